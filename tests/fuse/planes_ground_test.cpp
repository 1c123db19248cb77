// The ground that is seen at a grazing angle: its direction, its heights, and the pixels that show it.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fuse/planes/ground.hpp"
#include "planes_cases.hpp"
#include "reference/plane_match_reference.hpp"

namespace recon {
namespace {

constexpr Vec3d kUp{0, -1, 0};
constexpr double kCameraHeight = 1.5, kDepth = 12;

/// Five cameras beside each other above a textured plane, all of whose depths are unknown.
struct GroundScene {
  static constexpr int kCount = 5;

  /// @param plane   the ground
  /// @param common  whether all views see the same texture
  explicit GroundScene(WorldPlane plane = {kUp, -kCameraHeight}, bool common = true) : ground(plane) {
    for (int i = 0; i < kCount; ++i) {
      const SmoothTexture fine(common ? 3u : 3u + static_cast<unsigned>(i)), coarse(5);
      const Pose pose = turned(-0.05, 0.02 * (i - 2), 0.01 * i, {0.6 * (2 - i), 0.02 * i, 0});
      depth.emplace_back(camera.width, camera.height, kUnknown);
      grey.emplace_back(camera.width, camera.height, std::uint8_t{200});
      poses.push_back(pose);
      for (int y = 0; y < camera.height; ++y)
        for (int x = 0; x < camera.width; ++x) {
          const Vec3d at = on_ground(i, x, y);
          if ((pose * at).z > 0)
            grey.back()(x, y) = as_grey(0.6 * fine(3 * at.x, 3 * at.z) + 0.3 * coarse(at.x, at.z));
        }
    }
  }

  Vec3d on_ground(int view, int x, int y) const {
    return reference::point_on_plane(ground.normal, ground.offset, camera, poses.at(view),
                                     pixel_centre(x, y));
  }
  PlaneView view(int i) const { return {camera, poses.at(i), depth.at(i).view(), grey.at(i).view()}; }
  GroundView ground_view(int i) const {
    GroundView result{view(i), {}};
    for (int k = 0; k < kCount; ++k)
      if (k != i) result.sources.push_back(view(k));
    return result;
  }
  std::optional<Ground> found() const {
    std::vector<GroundView> views;
    for (int i = 0; i < kCount; ++i) views.push_back(ground_view(i));
    return find_ground(views, kUp, kDepth, 2);
  }

  WorldPlane ground;
  Pinhole camera{200, 150, 170, 170, 100, 60};
  std::vector<Pose> poses;
  std::vector<Image<float>> depth;
  std::vector<Image<std::uint8_t>> grey;
};

/// The labelled pixels of view 2, and how many of them are within 2 % of the depth of the ground.
struct Labelled {
  int all = 0, right = 0;
};

Labelled labelled(const GroundScene& scene, const Ground& ground, Image<std::uint8_t>* labels = nullptr) {
  constexpr int kFirst = 5;
  Image<std::uint8_t> own(scene.camera.width, scene.camera.height, kUnlabelled);
  if (labels == nullptr) labels = &own;
  label_ground(scene.ground_view(2), ground, kFirst, labels->view());
  Labelled count;
  for (int y = 0; y < labels->height(); ++y)
    for (int x = 0; x < labels->width(); ++x) {
      const int label = (*labels)(x, y);
      if (label < kFirst) continue;
      const WorldPlane& level = ground.levels.at(label - kFirst);
      const Pose& pose = scene.poses[2];
      const double z = (pose * reference::point_on_plane(level.normal, level.offset, scene.camera, pose,
                                                         pixel_centre(x, y)))
                           .z;
      ++count.all;
      count.right += std::abs(z / (pose * scene.on_ground(2, x, y)).z - 1) < 0.02;
    }
  return count;
}

TEST(FindGround, HasItsHeight) {
  for (const double height : {0.5, 1.5, 3.0}) {
    const GroundScene scene(WorldPlane{kUp, -height});
    const auto ground = scene.found();
    ASSERT_TRUE(ground) << height;
    const Labelled count = labelled(scene, *ground);
    EXPECT_GT(count.all, 200 * 50) << height;
    EXPECT_GT(count.right, count.all * 98 / 100) << height;
  }
}

/// 1.5 degrees: 7 percent of the height of the cameras, four units to a side.
TEST(FindGround, FollowsItsSlope) {
  const GroundScene scene(WorldPlane{normalized(Vec3d{0.025, -1, 0}), -kCameraHeight});
  const auto ground = scene.found();
  ASSERT_TRUE(ground);
  const Labelled count = labelled(scene, *ground);
  EXPECT_GT(count.all, 200 * 40);
  EXPECT_GT(count.right, count.all * 90 / 100);
  const Ground flat{{{kUp, -kCameraHeight}}, {}};
  EXPECT_EQ(labelled(scene, flat).all, 0) << "no relief is decided";
}

TEST(FindGround, NeedsThePhotosToMatch) {
  EXPECT_FALSE(GroundScene(WorldPlane{kUp, -kCameraHeight}, false).found());
  GroundScene known;
  for (Image<float>& it : known.depth) it.fill(7);
  EXPECT_FALSE(known.found());
  EXPECT_FALSE(find_ground({}, kUp, kDepth, 1));
}

/// A wall instead of a ground.
TEST(FindGround, NeedsAGround) {
  const GroundScene wall(WorldPlane{{0, 0, -1}, -6});
  EXPECT_FALSE(wall.found());
}

TEST(LabelGround, KeepsWhatIsKnownOrLabelled) {
  GroundScene scene;
  const auto ground = scene.found();
  ASSERT_TRUE(ground);
  Image<std::uint8_t> labels(scene.camera.width, scene.camera.height, kUnlabelled);
  for (int x = 90; x < 110; ++x) {
    scene.depth[2](x, 120) = 3;
    labels(x, 121) = 2;
  }
  labelled(scene, *ground, &labels);
  for (int x = 90; x < 110; ++x) {
    EXPECT_EQ(labels(x, 120), kUnlabelled);
    EXPECT_EQ(labels(x, 121), 2);
    EXPECT_GT(labels(x, 122), 2);
  }
}

TEST(LabelGround, IsContradictedByTwoViewsThatSeeThrough) {
  for (const int views : {1, 2}) {
    GroundScene scene;
    const auto ground = scene.found();
    ASSERT_TRUE(ground);
    for (int i = 0; i < views; ++i) scene.depth.at(i).fill(1000);
    Image<std::uint8_t> labels(scene.camera.width, scene.camera.height, kUnlabelled);
    EXPECT_EQ(labelled(scene, *ground, &labels).all > 200 * 50, views == 1);
    EXPECT_EQ(labels(100, 120) > 0, views == 1);
  }
}

std::vector<PlaneView> looking(double pitch, double roll) {
  return {{{}, turned(pitch, 0.3, roll, {0, 0, 0}), {}, {}},
          {{}, turned(pitch, -0.3, -roll, {1, 0, 0}), {}, {}}};
}

/// The cameras look down or up, and are rolled.
TEST(UpDirection, IsAcrossTheWalls) {
  const WorldPlane front{{0, 0, -1}, 4}, back{{0, 0, -1}, 6}, side{normalized(Vec3d{1, 0, -1}), 4},
      roof{normalized(Vec3d{0, -1, -1}), 4}, flat{{0, -1, 0}, 2};
  for (const double pitch : {-0.25, 0.25}) {
    for (const auto& planes : {std::vector<WorldPlane>{front, side}, {flat, roof, front, back, side}}) {
      const auto up = up_direction(looking(pitch, 0.1), planes);
      ASSERT_TRUE(up);
      EXPECT_LT(norm(*up - kUp), 1e-9);
    }
    const auto of_one = up_direction(looking(pitch, 0), {roof, front});
    ASSERT_TRUE(of_one);
    EXPECT_NEAR(dot(*of_one, front.normal), 0, 1e-9);
    EXPECT_LT(norm(*of_one - kUp), 0.02) << "level across it, as the mean of the cameras is";
    EXPECT_FALSE(up_direction(looking(pitch, 0), {flat, roof}));
    EXPECT_FALSE(up_direction({}, {front}));
  }
}

TEST(GroundRelief, DecidesByTheVotesAround) {
  PlaceBounds bounds(kUp);
  bounds.add({0, 0, 0});
  bounds.add({10, 0, 10});
  GroundRelief relief(bounds, 9, 0.5);
  std::mt19937 random(7);
  const auto place = [&] {
    std::uniform_real_distribution<double> uniform(0, 10);
    const double x = uniform(random);
    return Vec3d{x, 0, uniform(random)};
  };
  for (int i = 0; i < 4000; ++i) relief.vote(place(), static_cast<int>(random() % 9), 0.3f);
  for (int i = 0; i < 4000; ++i) {
    const Vec3d at = place();
    relief.vote(at, at.x < 5 ? 2 : 6, 0.3f);
  }
  relief.decide();
  for (double z = 0.5; z < 10; z += 1) {
    ASSERT_TRUE(relief.level({1, 0, z}) && relief.level({9, 0, z}));
    EXPECT_NEAR(*relief.level({1, 0, z}), 2, 0.3);
    EXPECT_NEAR(*relief.level({9, 0, z}), 6, 0.3);
  }
  EXPECT_FALSE(relief.level({-3, 0, 5}));
  EXPECT_FALSE(relief.level({5, 0, 14}));
}

TEST(GroundRelief, IsUndecidedWhereVotesAreFewOrEven) {
  PlaceBounds bounds(kUp);
  bounds.add({0, 0, 0});
  bounds.add({40, 0, 4});
  GroundRelief relief(bounds, 31, 1);
  for (int x = 0; x < 10; ++x)  // even, then for one level
    for (int level = 0; level < 31; ++level) {
      relief.vote({x + 0.5, 0, 2}, level, 1);
      relief.vote({x + 25.5, 0, 2}, 12, 1);
    }
  relief.decide();
  EXPECT_FALSE(relief.level({2, 0, 2}));
  EXPECT_FALSE(relief.level({17.5, 0, 2})) << "far from all votes";
  ASSERT_TRUE(relief.level({30, 0, 2}));
  EXPECT_NEAR(*relief.level({30, 0, 2}), 12, 1e-6);
}

}  // namespace
}  // namespace recon
