// Lenses that see directions beside and behind the camera.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "scene/camera.hpp"

namespace recon {
namespace {

// Longitude 0 in the middle and to the right, latitude downwards; at the edges the two meet behind the
// camera.
TEST(WideLens, ProjectsPanoramasByHand) {
  const auto pixel = [](Vec3d x) {
    return *Lens({CameraModel::kEquirectangular, 800, 400, {800, 400}}).project(x);
  };
  const struct {
    Vec3d x;
    Vec2d at;
  } cases[] = {{{0, 0, 1}, {400, 200}},
               {{1, 0, 0}, {600, 200}},
               {{-2, 0, 0}, {200, 200}},
               {{1, 0, 1}, {500, 200}},
               {{0, 3, 0}, {400, 400}},
               {{0, -1, 0}, {400, 0}},
               {{0, -1, 1}, {400, 100}},
               {{0, 0, -1}, {800, 200}},
               {{-1e-300, 0, -1}, {0, 200}},
               {{1, 0, -1}, {700, 200}},
               {{-1, std::sqrt(2), -1}, {100, 300}}};
  for (const auto& [x, at] : cases) {
    EXPECT_NEAR(pixel(x).x, at.x, 1e-12) << x.x << ' ' << x.y << ' ' << x.z;
    EXPECT_NEAR(pixel(x).y, at.y, 1e-12) << x.x << ' ' << x.y << ' ' << x.z;
  }
  const Lens lens({CameraModel::kEquirectangular, 800, 400, {800, 400}});
  EXPECT_FALSE(lens.unproject({-0.1, 200}));
  EXPECT_FALSE(lens.unproject({400, 400.1}));
}

/// Lenses of 190 degrees and more across 1000 pixels.
std::vector<Camera> lenses_of_190_degrees() {
  using M = CameraModel;
  return {
      {M::kOpenCvFisheye, 1000, 800, {300, 300, 500, 400, 0.02, -0.008, 0.002, -0.0004}},
      {M::kSimpleRadialFisheye, 1000, 800, {280, 500, 400, 0.01}},
      {M::kRadialFisheye, 1000, 800, {290, 500, 400, 0.01, -0.002}},
      {M::kThinPrismFisheye, 1000, 800, {290, 290, 500, 400, 0.01, 0, 0.0005, -0.0004, 0, 0, 0.0004, 0.0003}},
      {M::kRadTanThinPrismFisheye,
       1000,
       800,
       {290, 290, 500, 400, 0.01, 0, 0, 0, 0, 0, 0.0005, -0.0004, 0.0004, 0.0001, 0.0003, -0.0001}},
      {M::kSimpleFisheye, 1000, 800, {295, 500, 400}},
      {M::kFisheye, 1000, 800, {295, 290, 500, 400}},
      {M::kEquirectangular, 1000, 500, {1000, 500}},
  };
}

TEST(WideLens, WideModelsFindEveryDirectionUpTo190Degrees) {
  for (const Camera& camera : lenses_of_190_degrees()) {
    const Lens lens(camera);
    for (int turn = 0; turn < 72; ++turn)
      for (int angle = 0; angle <= 95; ++angle) {
        const double theta = angle * std::numbers::pi / 180, phi = turn * std::numbers::pi / 36;
        const Vec3d d{std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
        const auto pixel = lens.project(d);
        ASSERT_TRUE(pixel) << model_name(camera.model) << ' ' << angle;
        const auto back = lens.unproject(*pixel);
        ASSERT_TRUE(back) << model_name(camera.model) << ' ' << angle;
        ASSERT_LT(norm(*back - d), 1e-9) << model_name(camera.model) << ' ' << angle;
      }
  }
}

}  // namespace
}  // namespace recon
