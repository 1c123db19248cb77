// What matches say of cameras and poses, on random points that are projected in closed form.

#include "scene/epipolar_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace recon {
namespace {

const Pinhole kUnitCamera{320, 240, 300, 300, 160, 120};  // a pixel is a unit

/// A rotation about an axis of the camera, 0 to 2, by degrees.
Pose turned_about(int axis, double degrees) {
  const double c = std::cos(degrees * std::acos(-1.0) / 180), s = std::sin(degrees * std::acos(-1.0) / 180);
  Pose pose;
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  pose.rotation(a, a) = pose.rotation(b, b) = c;
  pose.rotation(a, b) = -s;
  pose.rotation(b, a) = s;
  return pose;
}

/// Cameras on an arc that look at a cloud of points, and matches of all pairs with noise; a share of them is
/// wrong: somewhere in the band.
struct MatchedScene {
  std::vector<CalibratedView> views;
  std::vector<ViewMatch> matches;

  explicit MatchedScene(int count = 6, double noise = 0.1, double outliers = 0.25, double distortion = 0,
                        unsigned seed = 7) {
    for (int i = 0; i < count; ++i) {
      const Pose orbit = turned_about(1, 12.0 * (i - 0.5 * (count - 1))) * turned_about(0, i % 2 ? 6 : -6);
      views.push_back({kUnitCamera, Pose{orbit.rotation, {0, 0, 5}}});
    }
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> cube(-1.5, 1.5), unit(0, 1);
    std::normal_distribution<double> shift(0, noise);
    const auto pixel = [&](const CalibratedView& view, Vec3d x) {
      const Vec3d in_cam = view.cam_from_world * x;
      const double u = in_cam.x / in_cam.z, v = in_cam.y / in_cam.z,
                   factor = 1 + distortion * (u * u + v * v);
      return Vec2d{300 * u * factor + 160 + shift(random), 300 * v * factor + 120 + shift(random)};
    };
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b)
        for (int k = 0; k < 40; ++k) {
          const Vec3d x{cube(random), cube(random), cube(random)};
          ViewMatch match{a, b, {pixel(views[a], x), pixel(views[b], x)}};
          if (unit(random) < outliers) match.at.in_source.y += 24 * unit(random) - 12;
          matches.push_back(match);
        }
  }

  EpipolarVerdict verdict() const { return judge_matches(views, matches); }
};

void for_cameras(MatchedScene& scene, const std::function<void(Pinhole&)>& change) {
  for (CalibratedView& view : scene.views) change(view.camera);
}

TEST(EpipolarCheck, DistancesAreInUnitsOfTheLongerSide) {
  // The second camera is to the right: lines are rows. Half of the distance falls to each of the two pixels.
  const Pinhole large{640, 480, 600, 600, 320, 240};
  const std::vector<CalibratedView> views = {{large, {}}, {large, {identity<double>(), {-1, 0, 0}}}};
  const std::vector<ViewMatch> matches = {{0, 1, {{300, 200}, {250, 200}}},
                                          {0, 1, {{300, 200}, {250, 200 + 2 * std::sqrt(2.0)}}},
                                          {0, 1, {{300, 200}, {250, 210}}}};
  const EpipolarFit fit = fit_matches(views, matches);
  EXPECT_EQ(fit.matches, 3u);
  EXPECT_NEAR(fit.median, 1, 1e-9);
  EXPECT_NEAR(fit_matches(views, std::span(matches).first(1)).share, 1, 1e-12);
  EXPECT_NEAR(fit_matches(views, std::span(matches).last(1)).share, 0, 1e-12);
  EXPECT_EQ(fit_matches(views, {}).share, 0);
}

TEST(EpipolarCheck, RightCalibrationsAreNotDoubted) {
  for (const double noise : {0.05, 0.3, 0.6}) {
    const EpipolarVerdict verdict = MatchedScene(6, noise).verdict();
    EXPECT_TRUE(verdict.views.empty());
    EXPECT_FALSE(verdict.camera) << static_cast<int>(verdict.camera->error);
    EXPECT_EQ(verdict.fit.matches, 600u);
    EXPECT_GT(verdict.fit.share, 0.6);
  }
}

TEST(EpipolarCheck, NoiseOfFewMatchesIsNoDoubt) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    MatchedScene scene(4, 0.7, 0.3, 0, seed);
    scene.matches.erase(scene.matches.begin(), scene.matches.begin() + 120);
    const EpipolarVerdict verdict = scene.verdict();
    EXPECT_FALSE(verdict.camera) << seed;
    EXPECT_TRUE(verdict.views.empty()) << seed;
  }
}

TEST(EpipolarCheck, AChangeThatHelpsFewMatchesIsNotSaid) {
  // Two views whose cameras would be changed, among others that do not depend on focal lengths.
  MatchedScene scene(2, 0.02, 0.1);
  scene.matches.resize(15);
  for_cameras(scene, [](Pinhole& camera) { camera.fx = camera.fy = 400; });
  for (int i = 0; i < 4; ++i)
    scene.views.push_back({kUnitCamera, {identity<double>(), {-0.4 * i, 0.3 * (i % 2), 5}}});
  std::mt19937 random(11);
  std::uniform_real_distribution<double> cube(-1.5, 1.5);
  std::normal_distribution<double> noise(0, 0.15);
  for (int k = 0; k < 300; ++k) {
    const Vec3d x{cube(random), cube(random), cube(random)};
    const int a = 2 + k % 3;
    const auto pixel = [&](int view) { return kUnitCamera.project(scene.views[view].cam_from_world * x); };
    scene.matches.push_back({a, a + 1, {pixel(a), pixel(a + 1)}});
    scene.matches.back().at.in_source.x += noise(random);
    scene.matches.back().at.in_source.y += noise(random);
  }
  EXPECT_FALSE(scene.verdict().camera);
}

TEST(EpipolarCheck, AWrongFocalLengthIsFound) {
  for (const double factor : {0.5, 0.95, 1.05, 1.3}) {
    MatchedScene scene;
    for_cameras(scene, [&](Pinhole& camera) {
      camera.fx *= factor;
      camera.fy *= factor;
    });
    const EpipolarVerdict verdict = scene.verdict();
    ASSERT_TRUE(verdict.camera) << factor;
    EXPECT_EQ(verdict.camera->error, CameraError::kFocal);
    EXPECT_NEAR(verdict.camera->focal * factor, 1, 0.01);
    EXPECT_LT(verdict.camera->fit.median, 0.8 * verdict.fit.median);
    EXPECT_GT(verdict.camera->fit.share, 0.7);
    EXPECT_TRUE(verdict.views.empty());
  }
}

TEST(EpipolarCheck, AWrongPrincipalPointIsFound) {
  MatchedScene scene;
  for_cameras(scene, [](Pinhole& camera) {
    camera.cx -= 32;
    camera.cy += 16;
  });
  const EpipolarVerdict verdict = scene.verdict();
  ASSERT_TRUE(verdict.camera);
  EXPECT_EQ(verdict.camera->error, CameraError::kCentre);
  EXPECT_NEAR(verdict.camera->centre.x, 0.1, 0.005);
  EXPECT_NEAR(verdict.camera->centre.y, -0.05, 0.005);
}

TEST(EpipolarCheck, DistortionThatIsLeftIsFound) {
  // Photos whose k1 was taken to be 0: their pixels are further out than undistorted ones by 1 + k1 r^2.
  for (const double k1 : {-0.2, 0.1}) {
    const EpipolarVerdict verdict = MatchedScene(6, 0.1, 0.25, k1).verdict();
    ASSERT_TRUE(verdict.camera) << k1;
    EXPECT_EQ(verdict.camera->error, CameraError::kDistortion);
    EXPECT_NEAR(verdict.camera->distortion, k1, 0.03);
  }
}

TEST(EpipolarCheck, DistortionThatNoLensHasIsNoExplanation) {
  EXPECT_TRUE(MatchedScene(6, 0.1, 0.25, -0.4).verdict().camera);
  EXPECT_FALSE(MatchedScene(6, 0.1, 0.25, -1).verdict().camera);
}

TEST(EpipolarCheck, SmallChangesOfCamerasAreNotWorthAWord) {
  MatchedScene scene(6, 0.01, 0.1);
  for_cameras(scene, [](Pinhole& camera) {
    camera.fx *= 1.02;
    camera.fy *= 1.02;
  });
  EXPECT_FALSE(scene.verdict().camera) << "though it is certain";
}

TEST(EpipolarCheck, LessThanATenthOfAPixelIsNotWorthAWord) {
  // The images are so small that a focal length that is 10 % off moves lines by less than corners are off.
  for (const double factor : {1.1, 1.5}) {
    MatchedScene scene;
    for_cameras(scene, [&](Pinhole& camera) { camera = {16, 12, 15 * factor, 15 * factor, 8, 6}; });
    for (ViewMatch& it : scene.matches)
      for (Vec2d* pixel : {&it.at.in_reference, &it.at.in_source}) *pixel = {pixel->x / 20, pixel->y / 20};
    EXPECT_EQ(scene.verdict().camera.has_value(), factor == 1.5);
  }
}

/// Cameras that look nearly along one direction, as from a street: focal lengths move lines by little. All
/// corners are off alike by a part of a pixel: drawn towards the middle of their pixel.
EpipolarVerdict verdict_of_street(int side, double factor) {
  const double focal = 0.95 * side;
  const Pinhole camera{side, 3 * side / 4, focal, focal, side / 2.0, 3 * side / 8.0};
  MatchedScene scene(0);
  for (int i = 0; i < 8; ++i)
    scene.views.push_back({camera, {turned_about(1, 5).rotation, {-0.5 * i, 0.6 * (i % 2), 0.05 * i}}});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> across(-4, 8), depth(5, 9);
  std::normal_distribution<double> noise(0, 0.05);
  const auto drawn = [&](double x) {
    const double from_middle = x - std::floor(x) - 0.5;
    return x - 0.25 * from_middle + noise(random);
  };
  while (scene.matches.size() < 900) {
    const Vec3d x{across(random), 0.3 * across(random), depth(random)};
    const int a = static_cast<int>(scene.matches.size()) % 7, b = a + 1;
    const Vec2d p = camera.project(scene.views[a].cam_from_world * x),
                q = camera.project(scene.views[b].cam_from_world * x);
    if (!camera.contains(p) || !camera.contains(q)) continue;
    scene.matches.push_back({a, b, {{drawn(p.x), drawn(p.y)}, {drawn(q.x), drawn(q.y)}}});
  }
  for_cameras(scene, [&](Pinhole& it) { it.fx *= factor, it.fy *= factor; });
  return scene.verdict();
}

TEST(EpipolarCheck, CornersOfSmallPhotosThatAreOffAlikeAreNoOtherFocalLength) {
  for (const int side : {80, 120, 160}) EXPECT_FALSE(verdict_of_street(side, 1).camera) << side;
  const EpipolarVerdict wrong = verdict_of_street(640, 0.6);
  ASSERT_TRUE(wrong.camera);
  EXPECT_NEAR(wrong.camera->focal * 0.6, 1, 0.1);
}

TEST(EpipolarCheck, FocalLengthsOfCamerasThatLookInOneDirectionAreNotJudged) {
  MatchedScene parallel(0);
  for (int i = 0; i < 4; ++i)
    parallel.views.push_back({kUnitCamera, {identity<double>(), {-0.4 * i, 0.3 * (i % 2), 5}}});
  std::mt19937 random(5);
  std::uniform_real_distribution<double> cube(-1.5, 1.5);
  for (int k = 0; k < 300; ++k) {
    const Vec3d x{cube(random), cube(random), cube(random)};
    const int a = k % 3, b = a + 1;
    const auto pixel = [&](int view) { return kUnitCamera.project(parallel.views[view].cam_from_world * x); };
    parallel.matches.push_back({a, b, {pixel(a), pixel(b)}});
  }
  for_cameras(parallel, [](Pinhole& camera) { camera.fx = camera.fy = 600; });
  const EpipolarVerdict verdict = parallel.verdict();
  EXPECT_FALSE(verdict.camera);
  EXPECT_GT(verdict.fit.share, 0.99);
}

TEST(EpipolarCheck, AViewThatIsTurnedIsNamedWithItsAngle) {
  for (const int axis : {0, 1, 2}) {
    MatchedScene scene;
    scene.views[2].cam_from_world = turned_about(axis, 2) * scene.views[2].cam_from_world;
    const EpipolarVerdict verdict = scene.verdict();
    ASSERT_EQ(verdict.views.size(), 1u) << axis;
    EXPECT_EQ(verdict.views[0].view, 2);
    ASSERT_TRUE(verdict.views[0].degrees);
    EXPECT_NEAR(*verdict.views[0].degrees, 2, 0.1);
    EXPECT_FALSE(verdict.camera);
    EXPECT_EQ(verdict.fit.matches, 400u) << "without those of the view";
    EXPECT_EQ(verdict.views[0].fit.matches, 200u);
  }
  MatchedScene scene;
  scene.views[2].cam_from_world = turned_about(1, 0.5) * scene.views[2].cam_from_world;
  EXPECT_TRUE(scene.verdict().views.empty()) << "half a degree";
}

TEST(EpipolarCheck, PhotosOfOtherViewsAreNamedWithoutAnAngle) {
  MatchedScene scene;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> band(-12, 12);
  for (ViewMatch& it : scene.matches)  // chance matches lie anywhere in the band
    if (it.reference == 1 || it.source == 1 || it.reference == 4 || it.source == 4)
      it.at.in_source.y += band(random);
  const EpipolarVerdict verdict = scene.verdict();
  ASSERT_EQ(verdict.views.size(), 2u);
  EXPECT_EQ(verdict.views[0].view + verdict.views[1].view, 5);
  EXPECT_FALSE(verdict.views[0].degrees || verdict.views[1].degrees);
  EXPECT_LT(verdict.views[0].fit.share, 0.3);
  EXPECT_GT(verdict.fit.share, 0.7);
}

TEST(EpipolarCheck, FewCornersOfAViewSayNothing) {
  for (unsigned seed = 0; seed < 20; ++seed)
    for (const std::size_t count : {22u, 29u, 60u}) {
      MatchedScene scene(6, 0.1, 0.25, 0, seed);
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> band(-12, 12);
      std::size_t its = 0;
      std::erase_if(scene.matches, [&](ViewMatch& it) {
        if (it.reference != 1 && it.source != 1) return false;
        it.at.in_source.y += band(random);  // windows of a photo that is out of focus match by chance
        return ++its > count;
      });
      EXPECT_EQ(scene.verdict().views.size(), count < 30 ? 0u : 1u) << seed << ", " << count;
    }
}

TEST(EpipolarCheck, AViewWithMoreThanChanceMatchesIsNotDoubted) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    MatchedScene scene(6, 0.1, 0.25, 0, seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> band(-12, 12), unit(0, 1);
    std::size_t its = 0;
    std::erase_if(scene.matches, [&](ViewMatch& it) {
      if (it.reference != 1 && it.source != 1) return false;
      if (unit(random) < 0.6) it.at.in_source.y += band(random);
      return ++its > 40;
    });
    EXPECT_TRUE(scene.verdict().views.empty()) << seed;
  }
}

/// Photos of two faces each, with as many matches of each face: view i and view i + 6, which looks 30 degrees
/// to the side.
MatchedScene scene_of_faces() {
  MatchedScene scene;
  const int count = static_cast<int>(scene.views.size());
  const Pose side = turned_about(1, 30);
  for (int i = 0; i < count; ++i) {
    scene.views[i].photo = i;
    scene.views.push_back({kUnitCamera, side * scene.views[i].cam_from_world, i});
  }
  const auto beside = [&](Vec2d pixel) { return kUnitCamera.project(side * kUnitCamera.ray(pixel)); };
  const std::vector<ViewMatch> front = scene.matches;
  for (const ViewMatch& it : front)
    scene.matches.push_back(
        {it.reference + count, it.source + count, {beside(it.at.in_reference), beside(it.at.in_source)}});
  return scene;
}

TEST(EpipolarCheck, AFaceThatMatchesByChanceIsNoDoubtOfItsPhoto) {
  MatchedScene scene = scene_of_faces();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> band(-12, 12);
  for (ViewMatch& it : scene.matches)
    if (it.reference == 8 || it.source == 8) it.at.in_source.y += band(random);
  EXPECT_TRUE(scene.verdict().views.empty());
  for (CalibratedView& view : scene.views) view.photo = -1;
  ASSERT_EQ(scene.verdict().views.size(), 1u) << "photos of their own";
  EXPECT_EQ(scene.verdict().views[0].view, 8);
}

TEST(EpipolarCheck, FacesTurnWithTheirPhoto) {
  for (const int axis : {0, 1, 2}) {
    MatchedScene scene = scene_of_faces();
    const Pose photo = turned_about(axis, 2) * scene.views[2].cam_from_world;
    scene.views[2].cam_from_world = photo;
    scene.views[8].cam_from_world = turned_about(1, 30) * photo;
    const EpipolarVerdict verdict = scene.verdict();
    ASSERT_EQ(verdict.views.size(), 1u) << axis;
    EXPECT_EQ(verdict.views[0].view, 2);
    EXPECT_NEAR(verdict.views[0].degrees.value_or(0), 2, 0.1);
    EXPECT_EQ(verdict.views[0].fit.matches, 400u) << "of both faces";
    EXPECT_EQ(verdict.fit.matches, 800u);
    EXPECT_FALSE(verdict.camera);
  }
}

TEST(EpipolarCheck, NoSingleViewIsNamedWhereNothingFits) {
  MatchedScene scene(6, 0.1, 1);
  for (ViewMatch& it : scene.matches)  // the matches of one view fit even less
    if (it.reference == 2 || it.source == 2) it.at.in_source.y += it.at.in_source.y < 120 ? -12 : 12;
  const EpipolarVerdict verdict = scene.verdict();
  EXPECT_TRUE(verdict.views.empty());
  EXPECT_FALSE(verdict.camera);
  EXPECT_LT(verdict.fit.share, 0.4);
}

TEST(EpipolarCheck, FewMatchesSayNothing) {
  MatchedScene scene(3);
  scene.views[1].cam_from_world = turned_about(2, 5) * scene.views[1].cam_from_world;
  EXPECT_EQ(scene.verdict().views.size(), 1u);
  scene.matches.resize(99);
  EXPECT_TRUE(scene.verdict().views.empty());
  MatchedScene focal(2);
  for_cameras(focal, [](Pinhole& camera) { camera.fx = camera.fy = 500; });
  focal.matches.resize(40);
  EXPECT_FALSE(focal.verdict().camera);
}

}  // namespace
}  // namespace recon
