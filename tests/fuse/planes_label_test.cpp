// Which areas take which planes: a panel without texture in a textured frame on a wall, seen by four views.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/asked_plane.hpp"
#include "planes_cases.hpp"
#include "reference/plane_match_reference.hpp"

namespace recon {
namespace {

const WorldPlane kWall{{0, 0, -1}, -4};

/// A rectangle of the wall.
struct Panel {
  double x0 = -0.8, y0 = -0.5, x1 = 0.7, y1 = 0.6;
  bool contains(Vec3d at) const { return at.x > x0 && at.x < x1 && at.y > y0 && at.y < y1; }
};

/// The reference is view 0. Depths are exact, but for those of the panel, which are unknown.
struct Views {
  static constexpr int kCount = 4;
  static constexpr std::uint8_t kPlain =
      76;  ///< the mean of the texture, so that the edge of the panel is none

  explicit Views(Panel shown = {}) : panel(shown) {
    const Pose poses[kCount] = {{},
                                turned(0.02, -0.05, 0.01, {-0.3, 0.05, 0.05}),
                                turned(-0.03, 0.06, 0, {0.35, 0, -0.04}),
                                turned(0.05, 0.01, -0.02, {0.02, -0.3, 0})};
    const SmoothTexture texture(11);
    for (const Pose& pose : poses) {
      depth.emplace_back(camera.width, camera.height);
      grey.emplace_back(camera.width, camera.height);
      views.push_back({camera, pose, {}, {}});
      for (int y = 0; y < camera.height; ++y)
        for (int x = 0; x < camera.width; ++x) {
          const Vec3d at = on_wall(views.back(), x, y);
          depth.back()(x, y) = panel.contains(at) ? kUnknown : static_cast<float>((pose * at).z);
          grey.back()(x, y) = panel.contains(at) ? kPlain : as_grey(0.6 * texture(5 * at.x, 5 * at.y));
        }
    }
    colours = Image<Rgb8>(camera.width, camera.height);
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x) {
        const std::uint8_t g = grey[0](x, y);
        colours(x, y) = in_panel(x, y) ? Rgb8{210, 200, 150} : Rgb8{g, g, g};
      }
    normals = Image<Vec3f>(camera.width, camera.height, Vec3f{0, 0, -1});
  }

  static Vec3d on_wall(const PlaneView& view, int x, int y) {
    return reference::point_on_plane(kWall.normal, kWall.offset, view.camera, view.cam_from_world,
                                     pixel_centre(x, y));
  }
  bool in_panel(int x, int y) const { return panel.contains(on_wall(views[0], x, y)); }

  /// Changes the depths of a view where it sees a part of the wall: to those of another plane.
  void put(int view, const Panel& part, const WorldPlane& plane) {
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x) {
        const PlaneView& it = views.at(view);
        if (!part.contains(on_wall(it, x, y))) continue;
        const Vec3d at = reference::point_on_plane(plane.normal, plane.offset, camera, it.cam_from_world,
                                                   pixel_centre(x, y));
        depth.at(view)(x, y) = static_cast<float>((it.cam_from_world * at).z);
      }
  }

  void make_unknown(int view, const Panel& part) {
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x)
        if (part.contains(on_wall(views.at(view), x, y))) depth.at(view)(x, y) = kUnknown;
  }

  Image<std::uint8_t> labels(const std::vector<WorldPlane>& planes = {kWall}) {
    for (int i = 0; i < kCount; ++i) {
      views.at(i).depth = depth.at(i).view();
      views.at(i).grey = grey.at(i).view();
    }
    return label_areas(views[0], normals.view(), colours.view(), {views.begin() + 1, views.end()}, planes);
  }

  Panel panel;
  Pinhole camera{160, 120, 130, 130, 80, 60};
  std::vector<PlaneView> views;
  std::vector<Image<float>> depth;
  std::vector<Image<std::uint8_t>> grey;
  Image<Rgb8> colours;  ///< of the reference
  Image<Vec3f> normals;
};

struct Filled {
  int inside = 0, outside = 0, unfilled = 0;
};

/// How many pixels of a part of the wall, which the reference sees, have a label, and how many others.
Filled filled(const Views& scene, const Image<std::uint8_t>& labels, int label = 1, const Panel& part = {}) {
  Filled count;
  for (int y = 0; y < labels.height(); ++y)
    for (int x = 0; x < labels.width(); ++x) {
      const bool inside = part.contains(Views::on_wall(scene.views[0], x, y));
      if (labels(x, y) == label)
        ++(inside ? count.inside : count.outside);
      else if (inside)
        ++count.unfilled;
    }
  return count;
}

constexpr int kPanelPixels = 49 * 36;  // 1.5 x 1.1 at 4, about

TEST(LabelAreas, APanelTakesThePlaneOfItsFrame) {
  Views scene;
  for (const int label : {1, 3}) {
    std::vector<WorldPlane> planes(static_cast<std::size_t>(label), {{1, 0, 0}, -9});
    planes.back() = kWall;
    const Image<std::uint8_t> labels = scene.labels(planes);
    const Filled count = filled(scene, labels, label);
    EXPECT_GT(count.inside, kPanelPixels * 95 / 100);
    EXPECT_EQ(count.unfilled, 0);
    EXPECT_EQ(count.outside, 0) << "known depths are kept";
    EXPECT_EQ(filled(scene, labels, kUnlabelled).outside, 160 * 120 - count.inside);
  }
}

TEST(LabelAreas, AreTheSameForAnyNumberOfThreads) {
  Views scene;
  const auto labels = [&](int threads) {
    return ThreadLimit(threads).run([&] { return scene.labels({kWall, {{0, 0, -1}, -4.05}}); });
  };
  const Image<std::uint8_t> one = labels(1), several = labels(4);
  for (int y = 0; y < one.height(); ++y)
    for (int x = 0; x < one.width(); ++x) ASSERT_EQ(one(x, y), several(x, y));
}

TEST(LabelAreas, APlaneThatIsNotNearOrFacesAwayFillsNothing) {
  Views scene;
  for (const std::vector<WorldPlane>& planes :
       {std::vector<WorldPlane>{}, {{{0, 0, -1}, -4.1}}, {{{0, 0, 1}, 4}}, {{{1, 0, 0}, -9}}})
    EXPECT_EQ(filled(scene, scene.labels(planes)).inside, 0);
}

TEST(LabelAreas, AKnownDepthThatIsTurnedAwayFromAPlaneIsNotOnIt) {
  for (const bool turned : {false, true}) {
    Views scene;
    scene.normals.fill(turned ? Vec3f{0.6f, 0, -0.8f} : Vec3f{0.4f, 0, -0.9165f});
    EXPECT_EQ(filled(scene, scene.labels()).inside > 0, !turned);
  }
}

/// A hole in the panel, such as a window: what two views see there is far away.
TEST(LabelAreas, WhereTwoViewsSeeThroughStaysUnknown) {
  const Panel hole{-0.3, -0.2, 0.1, 0.2};
  for (const int through : {1, 2, 3}) {
    Views scene;
    for (int i = 1; i <= through; ++i) scene.put(i, hole, {{0, 0, -1}, -7});
    const Image<std::uint8_t> labels = scene.labels();
    const Filled in_hole = filled(scene, labels, 1, hole), all = filled(scene, labels);
    EXPECT_GT(all.inside - in_hole.inside, kPanelPixels / 2) << through;
    // Its border is that of pixels, and differs by one between views.
    if (through == 1)
      EXPECT_EQ(in_hole.unfilled, 0);
    else
      EXPECT_LT(in_hole.inside, in_hole.unfilled / 4) << through;
  }
}

TEST(LabelAreas, APanelThatTwoViewsSeeThroughStaysUnknown) {
  Views scene;
  for (int i = 1; i <= 2; ++i) scene.put(i, scene.panel, {{0, 0, -1}, -7});
  EXPECT_EQ(filled(scene, scene.labels()).inside, 0);
}

/// The sky of the reference is labelled as such, and what another view sees as sky is not on a plane.
TEST(LabelAreas, SkyIsOnNoPlane) {
  const Panel part{-0.3, -0.2, 0.1, 0.2};
  for (const int view : {0, 2}) {
    Views scene;
    Image<std::uint8_t> sky(scene.camera.width, scene.camera.height, std::uint8_t{0});
    for (int y = 0; y < scene.camera.height; ++y)
      for (int x = 0; x < scene.camera.width; ++x)
        sky(x, y) = part.contains(Views::on_wall(scene.views.at(view), x, y)) ? 1 : 0;
    scene.views.at(view).sky = sky.view();
    const Image<std::uint8_t> labels = scene.labels();
    const Filled in_part = filled(scene, labels, 1, part), all = filled(scene, labels);
    EXPECT_GT(all.inside - in_part.inside, kPanelPixels / 2);
    if (view == 0) {
      EXPECT_EQ(in_part.inside, 0);
      EXPECT_EQ(filled(scene, labels, kNoSurface, part).unfilled, 0);
      EXPECT_EQ(filled(scene, labels, kNoSurface, part).outside, 0);
    } else {  // but for its rim
      EXPECT_LT(in_part.inside, in_part.unfilled) << view;
      EXPECT_EQ(filled(scene, labels, 1, {-0.2, -0.1, 0, 0.1}).inside, 0);
    }
  }
}

/// A view with a depth on the plane that looks otherwise sees something else.
TEST(LabelAreas, WhereTwoViewsSeeAnotherGreyLevelOnThePlaneStaysUnknown) {
  const Panel part{-0.3, -0.2, 0.1, 0.2};
  for (const int differing : {1, 2}) {
    Views scene;
    for (int i = 1; i <= differing; ++i) {
      scene.put(i, part, kWall);
      for (int y = 0; y < scene.camera.height; ++y)
        for (int x = 0; x < scene.camera.width; ++x)
          if (part.contains(Views::on_wall(scene.views.at(i), x, y))) scene.grey.at(i)(x, y) = 235;
    }
    const Filled count = filled(scene, scene.labels(), 1, part);
    if (differing == 1)
      EXPECT_EQ(count.unfilled, 0);
    else
      EXPECT_LT(count.inside, count.unfilled / 4);
  }
}

/// Most known depths around the panel are those of the wall, but other views may see its own.
TEST(LabelAreas, TheDepthsOfOtherViewsVote) {
  const WorldPlane other{{0, 0, -1}, -3.8};  // nearer: no view sees through the wall
  for (const bool on_wall : {true, false}) {
    Views scene;
    scene.put(0, {0.1, -9, 9, 9}, other);
    for (int i = 1; i < Views::kCount; ++i) scene.put(i, scene.panel, on_wall ? kWall : other);
    scene.make_unknown(0, scene.panel);
    const int on_it = filled(scene, scene.labels({kWall, other})).inside;
    if (on_wall)
      EXPECT_GT(on_it, kPanelPixels / 2);
    else
      EXPECT_EQ(on_it, 0);
  }
}

/// The right half of the panel is that of a plane that turns away; depths are known near its border.
TEST(LabelAreas, AnAreaOfTwoPlanesIsDividedWhereTheyMeet) {
  const WorldPlane turning{normalized(Vec3d{0.3, 0, -1}), -4 / std::sqrt(1.09)};
  Views scene;
  const Panel &panel = scene.panel, inner{panel.x0 + 0.2, panel.y0 + 0.2, panel.x1 - 0.2, panel.y1 - 0.2};
  scene.put(0, panel, kWall);
  scene.put(0, {0, panel.y0, panel.x1, panel.y1}, turning);
  scene.make_unknown(0, inner);
  for (int y = 0; y < scene.camera.height; ++y)
    for (int x = 80; x < scene.camera.width; ++x)
      if (scene.in_panel(x, y)) scene.normals(x, y) = {0.2873f, 0, -0.9578f};
  const Image<std::uint8_t> labels = scene.labels({kWall, turning});
  int left = 0, right = 0;
  for (int y = 0; y < labels.height(); ++y)
    for (int x = 0; x < labels.width(); ++x) {
      const bool inside = inner.contains(Views::on_wall(scene.views[0], x, y));
      ASSERT_EQ(labels(x, y), !inside ? kUnlabelled : x < 80 ? 1 : 2) << x << " " << y;
      ++(x < 80 ? left : right);
    }
  EXPECT_GT(std::min(left, right), 300);
}

/// The known depths of the panel's surroundings are those of a strip at its upper border.
TEST(LabelAreas, FewKnownDepthsAreNotEnough) {
  for (const double length : {0.1, 1.2}) {  // 3 and 39 pixels, of 6 rows
    Views scene;
    const Panel& panel = scene.panel;
    scene.make_unknown(0, {-9, panel.y0, 9, 9});
    scene.make_unknown(0, {-9, -9, 9, panel.y0 - 0.18});
    scene.make_unknown(0, {-9, -9, panel.x0, 9});
    scene.make_unknown(0, {panel.x0 + length, -9, 9, 9});
    EXPECT_EQ(filled(scene, scene.labels()).inside > kPanelPixels / 2, length > 1) << length;
  }
}

/// Depths that lie on a plane by chance have few others around them.
TEST(LabelAreas, ScatteredDepthsDoNotCount) {
  for (const int spacing : {1, 2}) {
    Views scene;
    for (int y = 0; y < scene.camera.height; ++y)
      for (int x = 0; x < scene.camera.width; ++x)
        if (x % spacing != 0 || y % spacing != 0) scene.depth[0](x, y) = kUnknown;
    EXPECT_EQ(filled(scene, scene.labels()).inside > 0, spacing == 1);
  }
}

TEST(LabelAreas, WhereThePhotosDoNotMatchStaysUnknown) {
  Views scene;
  const SmoothTexture other(12);
  for (int i = 1; i < Views::kCount; ++i)
    for (int y = 0; y < scene.camera.height; ++y)
      for (int x = 0; x < scene.camera.width; ++x) {
        const Vec3d at = Views::on_wall(scene.views.at(i), x, y);
        if (!scene.panel.contains(at)) scene.grey.at(i)(x, y) = as_grey(0.6 * other(5 * at.x, 5 * at.y + i));
      }
  EXPECT_EQ(filled(scene, scene.labels()).inside, 0);
}

/// A spot that only the reference has, as the reflection of a lamp: of the windows that have it, and the
/// pixels next to their centres.
TEST(LabelAreas, WhatDoesNotMatchInAnAreaLosesItsLabel) {
  Views scene;
  scene.grey[0](76, 56) = 250;
  const Image<std::uint8_t> labels = scene.labels();
  for (int y = 0; y < labels.height(); ++y)
    for (int x = 0; x < labels.width(); ++x)
      ASSERT_EQ(labels(x, y) == 1, scene.in_panel(x, y) && !(std::abs(x - 76) <= 5 && std::abs(y - 56) <= 5))
          << x << " " << y;
}

/// Without texture around, most of the known depths have to lie on the plane.
TEST(LabelAreas, WithoutTextureTheKnownDepthsDecide) {
  for (const double border : {0.6, 0.15}) {  // 0.8 and 0.6 of what is around lie on the plane
    Views scene;
    for (Image<std::uint8_t>& it : scene.grey) it.fill(Views::kPlain);
    scene.put(0, {border, -9, 9, 9}, {{0, 0, -1}, -5});
    scene.make_unknown(0, scene.panel);
    const Filled count = filled(scene, scene.labels(), 1, {-0.3, -0.2, 0.2, 0.2});
    EXPECT_EQ(count.inside > 0, border > 0.5) << border;
    EXPECT_EQ(count.unfilled > 0, border < 0.5) << border;
  }
}

TEST(LabelAreas, FewUnknownPixelsAreLeft) {
  for (const double size : {0.1, 0.3}) {
    Views scene(Panel{0, 0, size, size});  // 3 x 3 and 10 x 10 pixels
    EXPECT_EQ(filled(scene, scene.labels(), 1, scene.panel).inside > 0, size > 0.2) << size;
  }
}

/// One pixel after the other, with points that are projected.
TEST(AskedPlane, CountsWhatTheOtherViewsSee) {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  const WorldPlane plane{normalized(Vec3d{0.2, -0.1, -1}), -3.9};
  Views scene;
  for (int i = 0; i < Views::kCount; ++i) {
    const PlaneView& view = scene.views.at(i);
    for (int y = 0; y < scene.camera.height; ++y)
      for (int x = 0; x < scene.camera.width; ++x) {
        const Vec3d at = reference::point_on_plane(plane.normal, plane.offset, scene.camera,
                                                   view.cam_from_world, pixel_centre(x, y));
        const double z = (view.cam_from_world * at).z * (0.96 + 0.08 * uniform(random));
        scene.depth.at(i)(x, y) = uniform(random) < 0.1 ? kUnknown : static_cast<float>(z);
        scene.grey.at(i)(x, y) = static_cast<std::uint8_t>(100 + 60 * uniform(random));
      }
  }
  scene.views.at(3).cam_from_world = turned(0, 3, 0, {0, 0, 0});  // looks away
  scene.labels({});
  const std::vector<PlaneView> others(scene.views.begin() + 1, scene.views.end());
  const AskedPlane asked(plane, 7, scene.views[0], others);
  EXPECT_EQ(asked.label(), 7);
  PlaneAnswers all;
  int sum_on = 0, sum_other = 0, sum_through = 0;
  for (int y = 0; y < scene.camera.height; ++y)
    for (int x = 0; x < scene.camera.width; ++x) {
      const Vec3d at = reference::point_on_plane(plane.normal, plane.offset, scene.camera,
                                                 scene.views[0].cam_from_world, pixel_centre(x, y));
      PlaneAnswers expected, found;
      for (int i = 1; i < Views::kCount; ++i) {
        const Vec3d in_view = scene.views.at(i).cam_from_world * at;
        if (!(in_view.z > 0)) continue;
        const Vec2d pixel = scene.camera.project(in_view);
        if (pixel.x < 0 || pixel.y < 0 || pixel.x >= 160 || pixel.y >= 120) continue;
        const int u = static_cast<int>(pixel.x), v = static_cast<int>(pixel.y);
        const double farther = static_cast<double>(scene.depth.at(i)(u, v)) / in_view.z - 1;
        const bool alike = std::abs(scene.grey.at(i)(u, v) - scene.grey[0](x, y)) <= 30;
        expected.on += std::abs(farther) <= 0.01 && alike;
        expected.other += std::abs(farther) <= 0.01 && !alike;
        expected.through += farther > 0.02;
      }
      asked.ask({x, y}, found);
      ASSERT_EQ(found.on, expected.on) << x << " " << y;
      ASSERT_EQ(found.other, expected.other) << x << " " << y;
      ASSERT_EQ(found.through, expected.through) << x << " " << y;
      asked.ask({x, y}, all);
      sum_on += expected.on, sum_other += expected.other, sum_through += expected.through;
    }
  EXPECT_EQ(all.on, sum_on) << "answers are added up";
  EXPECT_EQ(all.other, sum_other);
  EXPECT_EQ(all.through, sum_through);
  EXPECT_GT(sum_on, 3000);
  EXPECT_GT(sum_other, 1000);
  EXPECT_GT(sum_through, 3000);
}

}  // namespace
}  // namespace recon
