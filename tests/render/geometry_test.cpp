// Depth and normals of rendered views against closed forms worked out here, not by the renderer's own ray
// casting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "render/render.hpp"
#include "render/slanted_plane_scene.hpp"

namespace recon {
namespace {

/// Depths are stored as floats: half a unit in the last place, and as much for the arithmetic.
constexpr double kFloatTolerance = 1.2e-7;

SceneDescription one_view(Camera camera, SceneObject object) {
  SceneDescription description;
  description.cameras = {std::move(camera)};
  description.views = {{"view00.png", 0, Pose{}, 1}};
  description.objects = {std::move(object)};
  description.samples = 1;
  return description;
}

Camera pinhole_camera(int width, int height, double focal) {
  return {CameraModel::kPinhole, width, height, {focal, focal, 0.5 * width, 0.5 * height}};
}

TEST(RenderGeometry, DepthOfASlantedPlaneIsTheClosedForm) {
  PlaneSceneOptions options;
  options.width = 33;
  options.height = 21;
  options.focal = 30;
  options.views = 3;
  options.slant_degrees = 40;
  options.distance = 3;
  const SceneDescription description = slanted_plane_scene(options);
  const double tangent = std::tan(40 * std::numbers::pi / 180);
  for (int view = 0; view < 3; ++view) {
    const RenderedView rendered = render_view(description, view);
    const double eye_x = std::vector<double>{0, 0.1, -0.1}[view];
    for (int y = 0; y < options.height; ++y)
      for (int x = 0; x < options.width; ++x) {
        // z = 3 + X tan(slant) with X = eye_x + z u, u the slope of the ray through the centre of the pixel.
        const double u = (x + 0.5 - 16.5) / 30;
        const double z = (3 + eye_x * tangent) / (1 - u * tangent);
        ASSERT_NEAR(rendered.depth(x, y), z, kFloatTolerance * z) << x << ' ' << y;
        const Vec3f n = rendered.normal(x, y);
        ASSERT_NEAR(n.x, std::sin(40 * std::numbers::pi / 180), 1e-6);
        ASSERT_NEAR(n.y, 0, 1e-6);
        ASSERT_NEAR(n.z, -std::cos(40 * std::numbers::pi / 180), 1e-6);
      }
  }
}

TEST(RenderGeometry, DepthOfASphereIsTheClosedForm) {
  const SceneDescription description =
      one_view(pinhole_camera(41, 31, 35), {Sphere{0.8}, {identity<double>(), {0.2, -0.1, 3}}, {}});
  const RenderedView rendered = render_view(description, 0);
  int seen = 0;
  for (int y = 0; y < 31; ++y)
    for (int x = 0; x < 41; ++x) {
      // |z (u, v, 1) - c|^2 = r^2
      const double u = (x + 0.5 - 20.5) / 35, v = (y + 0.5 - 15.5) / 35;
      const double a = u * u + v * v + 1, b = 0.2 * u - 0.1 * v + 3, c = 0.04 + 0.01 + 9 - 0.64;
      if (b * b < a * c) {
        ASSERT_TRUE(std::isnan(rendered.depth(x, y)));
        ASSERT_TRUE(std::isnan(rendered.normal(x, y).z));
        continue;
      }
      const double z = (b - std::sqrt(b * b - a * c)) / a;
      // Near the outline rounding is magnified by the slope of the root.
      ASSERT_NEAR(rendered.depth(x, y), z, 4 * kFloatTolerance * z);
      const Vec3f n = rendered.normal(x, y);
      ASSERT_NEAR(n.x, (u * z - 0.2) / 0.8, 1e-5);
      ASSERT_NEAR(n.y, (v * z + 0.1) / 0.8, 1e-5);
      ASSERT_NEAR(n.z, (z - 3) / 0.8, 1e-5);
      ++seen;
    }
  EXPECT_GT(seen, 200);
}

TEST(RenderGeometry, RoomSeenFromInsideIsItsNearestWall) {
  const Pose moved{identity<double>(), {0.51, -0.26, 1}};
  const RenderedView rendered =
      render_view(one_view(pinhole_camera(24, 18, 12), {Box{{2, 1.5, 3}}, moved, {}}), 0);
  for (int y = 0; y < 18; ++y)
    for (int x = 0; x < 24; ++x) {
      const double u = (x + 0.5 - 12) / 12, v = (y + 0.5 - 9) / 12;
      // Walls at x = 2.51 and -1.49, y = 1.24 and -1.76, z = 4.
      const double z_x = u > 0 ? 2.51 / u : -1.49 / u, z_y = v > 0 ? 1.24 / v : -1.76 / v;
      const double z = std::min({z_x, z_y, 4.0});
      ASSERT_NEAR(rendered.depth(x, y), z, kFloatTolerance * z);
      ASSERT_EQ(rendered.normal(x, y).z, z == 4.0 ? -1 : 0);
    }
}

TEST(RenderGeometry, CylinderSeenFromTheSideAndFromAbove) {
  // Its axis is the y axis of the camera.
  const SceneObject lying{Cylinder{0.5, 0.4}, {rotation_xyz({90, 0, 0}), {0, 0, 2}}, {}};
  const RenderedView side = render_view(one_view(pinhole_camera(31, 31, 40), lying), 0);
  for (int x = 11; x < 20; ++x) {
    const double u = (x + 0.5 - 15.5) / 40;
    const double z = (2 - std::sqrt(4 - (u * u + 1) * 3.75)) / (u * u + 1);
    ASSERT_NEAR(side.depth(x, 15), z, 4 * kFloatTolerance * z);
  }
  const SceneObject standing{Cylinder{0.5, 0.4}, {identity<double>(), {0, 0, 2}}, {}};
  const RenderedView above = render_view(one_view(pinhole_camera(31, 31, 40), standing), 0);
  EXPECT_NEAR(above.depth(15, 15), 1.6, 1e-6);
  EXPECT_NEAR(above.normal(15, 15).z, -1, 1e-6);
  EXPECT_TRUE(std::isnan(above.depth(0, 0)));
}

TEST(RenderGeometry, HeightFieldPointsLieOnItsWaves) {
  HeightField field{1.5, 1.5, {make_wave(0.12, 0.7, 0, 30), make_wave(0.08, 0.5, 90, 0)}};
  // The camera looks along +z; the field's z axis points towards it.
  const SceneObject object{field, {rotation_xyz({180, 0, 0}), {0, 0, 2}}, {}};
  const RenderedView rendered = render_view(one_view(pinhole_camera(48, 48, 48), object), 0);
  const double tau = 2 * std::numbers::pi;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 48; ++x) {
      const double z = rendered.depth(x, y);
      const double px = (x + 0.5 - 24) / 48 * z, py = -(y + 0.5 - 24) / 48 * z;
      const double height = 0.12 * std::sin(tau * px / 0.7 + tau / 12) + 0.08 * std::sin(tau * py / 0.5);
      ASSERT_NEAR(2 - z, height, 1e-6) << x << ' ' << y;
      const double slope_x = 0.12 * tau / 0.7 * std::cos(tau * px / 0.7 + tau / 12);
      const double slope_y = 0.08 * tau / 0.5 * std::cos(tau * py / 0.5);
      const double length = std::sqrt(1 + slope_x * slope_x + slope_y * slope_y);
      ASSERT_NEAR(rendered.normal(x, y).x, -slope_x / length, 1e-4);
      ASSERT_NEAR(rendered.normal(x, y).y, slope_y / length, 1e-4);
      ASSERT_NEAR(rendered.normal(x, y).z, -1 / length, 1e-4);
    }
}

SceneDescription crowded_scene() {
  SceneDescription description;
  description.cameras = {pinhole_camera(96, 72, 90)};
  description.views = {{"view00.png", 0, look_at({-0.4, -3, 1.2}, {0, 0, 0.4}), 1},
                       {"view01.png", 0, look_at({0.5, -2.9, 1.4}, {0, 0, 0.4}), 1}};
  SurfaceTexture noisy;
  noisy.pattern = Pattern::kMarble;
  description.objects = {{Quad{20, 20}, Pose{}, noisy},
                         {Sphere{0.4}, {identity<double>(), {0, 0, 0.4}}, noisy},
                         {Box{{0.2, 0.2, 0.6}}, {rotation_xyz({0, 0, 30}), {0.7, 0.3, 0.6}}, noisy},
                         {Cylinder{0.02, 0.7}, {rotation_xyz({5, 0, 0}), {-0.5, -0.4, 0.7}}, noisy}};
  description.samples = 2;
  description.noise = 2;
  return description;
}

TEST(RenderGeometry, DepthOfOneViewIsFoundInTheOtherOrHiddenThere) {
  const SceneDescription description = crowded_scene();
  const RenderedView a = render_view(description, 0), b = render_view(description, 1);
  const Pose b_from_a = description.views[1].cam_from_world * inverse(description.views[0].cam_from_world);
  int same = 0, hidden = 0, compared = 0;
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) {
      if (!(a.depth(x, y) > 0)) continue;
      const double z = a.depth(x, y);
      const Vec3d p = b_from_a * Vec3d{(x + 0.5 - 48) / 90 * z, (y + 0.5 - 36) / 90 * z, z};
      const int bx = static_cast<int>(std::floor(90 * p.x / p.z + 48));
      const int by = static_cast<int>(std::floor(90 * p.y / p.z + 36));
      if (p.z <= 0 || !b.depth.view().contains(bx, by) || !(b.depth(bx, by) > 0)) continue;
      ++compared;
      // The centre of the pixel is up to 0.7 px away: compare with the tangent plane there.
      const Vec3f n = b.normal(bx, by);
      const double zb = b.depth(bx, by);
      const Vec3d q{(bx + 0.5 - 48) / 90 * zb, (by + 0.5 - 36) / 90 * zb, zb};
      const double off = n.x * (p.x - q.x) + n.y * (p.y - q.y) + n.z * (p.z - q.z);
      if (std::abs(off) < 0.01)
        ++same;
      else if (p.z > zb)
        ++hidden;
    }
  EXPECT_GT(compared, 3000);
  EXPECT_GT(same, 0.8 * compared);
  EXPECT_GT(hidden, 50);
  // The rest: pixels whose centre falls beside the object that the point lies on.
  EXPECT_GE(same + hidden, 0.985 * compared);
}

TEST(Render, SameBytesOnOneAndTwoThreads) {
  const SceneDescription description = crowded_scene();
  const auto on_threads = [&](int threads) {
    ThreadLimit limit(threads);
    return limit.run([&] { return render_view(description, 0); });
  };
  const RenderedView a = on_threads(1), b = on_threads(2);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) {
      ASSERT_EQ(a.image(x, y), b.image(x, y));
      const float da = a.depth(x, y), db = b.depth(x, y);
      ASSERT_TRUE(da == db || (std::isnan(da) && std::isnan(db)));
    }
}

/// Mean and standard deviation over the differences of two photos of the same scene.
struct Statistics {
  double mean, deviation;
};

template <class Value>
Statistics statistics(int width, int height, const Value& value) {
  double sum = 0, squares = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      sum += value(x, y);
      squares += value(x, y) * value(x, y);
    }
  const double n = width * height, mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean)};
}

TEST(Render, NoiseHasTheDeviationAskedForAndDiffersBetweenViewsAndChannels) {
  SceneDescription description =
      one_view(pinhole_camera(128, 128, 100), {Quad{50, 50}, {identity<double>(), {0, 0, 1}}, {}});
  description.objects[0].texture.contrast = 0;
  description.light.ambient = 1;
  description.noise = 3;
  description.views.push_back({"view01.png", 0, Pose{}, 1});
  const RenderedView a = render_view(description, 0), b = render_view(description, 1);
  const auto red = statistics(128, 128, [&](int x, int y) { return a.image(x, y).r; });
  EXPECT_NEAR(red.mean, 0.6 * 255, 0.1);  // standard error 3 / 128
  // Rounding adds 1/12 to the variance.
  EXPECT_NEAR(red.deviation, std::sqrt(9 + 1.0 / 12), 0.08);
  const auto views = statistics(128, 128, [&](int x, int y) { return a.image(x, y).r - b.image(x, y).r; });
  EXPECT_NEAR(views.deviation, std::sqrt(2 * (9 + 1.0 / 12)), 0.12);
  const auto channels = statistics(128, 128, [&](int x, int y) { return a.image(x, y).r - a.image(x, y).g; });
  EXPECT_NEAR(channels.deviation, std::sqrt(2 * (9 + 1.0 / 12)), 0.12);
  const auto neighbours =
      statistics(127, 128, [&](int x, int y) { return a.image(x, y).r - a.image(x + 1, y).r; });
  EXPECT_NEAR(neighbours.deviation, std::sqrt(2 * (9 + 1.0 / 12)), 0.12);
}

TEST(Render, GainScalesGreyLevels) {
  SceneDescription description = crowded_scene();
  description.noise = 0;
  description.views[1] = description.views[0];
  description.views[1].name = "view01.png";
  description.views[1].gain = 0.5;
  const RenderedView full = render_view(description, 0), half = render_view(description, 1);
  int compared = 0;
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x)
      if (full.image(x, y).r > 0 && full.image(x, y).r < 255) {
        ++compared;
        ASSERT_NEAR(half.image(x, y).r, 0.5 * full.image(x, y).r, 0.76);
      }
  EXPECT_GT(compared, 72 * 96 / 2);
}

TEST(Render, LambertAndShadow) {
  // A lamp above the middle of a floor; a small plate between them throws a shadow.
  SceneDescription description;
  description.cameras = {pinhole_camera(41, 41, 20)};
  description.views = {{"view00.png", 0, look_at({0, 0, 1}, {0, 0, 0}, {0, 1, 0}), 1}};
  SurfaceTexture white;
  white.colour = {0.8, 0.8, 0.8};
  white.contrast = 0;
  description.objects = {{Quad{50, 50}, Pose{}, white},
                         {Quad{0.1, 0.1}, {identity<double>(), {0, 0, 1.5}}, white}};
  description.light = {{0, 0, 2}, 0.25, true};
  description.samples = 1;
  const RenderedView rendered = render_view(description, 0);
  EXPECT_EQ(rendered.image(20, 20).g, std::round(255 * 0.8 * 0.25));  // the shadow
  // Pixel (40, 20) sees (1, 0, 0): the cosine to the lamp is 2 / sqrt(5).
  EXPECT_EQ(rendered.image(40, 20).g, std::round(255 * 0.8 * (0.25 + 0.75 * 2 / std::sqrt(5.0))));
}

}  // namespace
}  // namespace recon
