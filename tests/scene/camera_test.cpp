#include "scene/camera.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <opencv2/calib3d.hpp>
#include <random>
#include <string>

#include "core/error.hpp"

namespace recon {
namespace {

constexpr int kWidth = 1024, kHeight = 768;

/// Parameters as in calibrations of real lenses; strong enough to shift the corners by tens of pixels.
std::vector<Camera> realistic_cameras() {
  using M = CameraModel;
  return {
      {M::kSimplePinhole, kWidth, kHeight, {900, 511, 380}},
      {M::kPinhole, kWidth, kHeight, {900, 700, 511, 380}},
      {M::kSimpleRadial, kWidth, kHeight, {900, 511, 380, -0.12}},
      {M::kSimpleRadial, kWidth, kHeight, {900, 511, 380, 0.2}},
      {M::kRadial, kWidth, kHeight, {900, 511, 380, -0.2, 0.05}},
      {M::kOpenCv, kWidth, kHeight, {900, 700, 511, 380, -0.12, 0.02, 0.002, -0.0015}},
      {M::kOpenCvFisheye, kWidth, kHeight, {450, 440, 511, 380, -0.03, 0.012, -0.008, 0.001}},
      {M::kFullOpenCv,
       kWidth,
       kHeight,
       {700, 690, 511, 380, 0.5, -0.1, 0.001, -0.0005, 0.01, 0.6, 0.02, 0.005}},
      {M::kFov, kWidth, kHeight, {500, 480, 511, 380, 0.9}},
      {M::kSimpleRadialFisheye, kWidth, kHeight, {450, 511, 380, -0.02}},
      {M::kRadialFisheye, kWidth, kHeight, {450, 511, 380, 0.03, -0.01}},
      {M::kThinPrismFisheye,
       kWidth,
       kHeight,
       {450, 440, 511, 380, -0.03, 0.01, 0.001, -0.0007, -0.004, 0.0008, 0.0006, -0.0009}},
      // Of the glasses of Project Aria, and without what is not radial.
      {M::kRadTanThinPrismFisheye,
       kWidth,
       kHeight,
       {450, 440, 511, 380, 0.4, -0.48, 0.19, 0.01, -0.02, 0.003, 0.0003, -0.0006, 0.0005, -0.0004, 0.0003,
        -0.0002}},
      {M::kRadTanThinPrismFisheye,
       kWidth,
       kHeight,
       {450, 440, 511, 380, -0.03, 0.01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {M::kSimpleDivision, kWidth, kHeight, {700, 511, 380, -0.3}},
      {M::kDivision, kWidth, kHeight, {900, 700, 511, 380, 0.1}},
      {M::kSimpleFisheye, kWidth, kHeight, {450, 511, 380}},
      {M::kFisheye, kWidth, kHeight, {450, 440, 511, 380}},
      {M::kEucm, kWidth, kHeight, {500, 490, 511, 380, 0.6, 1.1}},
      {M::kEquirectangular, kWidth, kHeight, {kWidth, kHeight}},
  };
}

std::string name_of(const ::testing::TestParamInfo<int>& index) {
  return std::string(model_name(realistic_cameras()[index.param].model)) + "_" + std::to_string(index.param);
}

class EveryModel : public ::testing::TestWithParam<int> {
 protected:
  const Camera camera = realistic_cameras()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(Models, EveryModel,
                         ::testing::Range(0, static_cast<int>(realistic_cameras().size())), name_of);

TEST_P(EveryModel, ProjectUndoesUnproject) {
  const Lens lens(camera);
  for (double y = 0; y <= kHeight; y += 16)
    for (double x = 0; x <= kWidth; x += 16) {
      const auto ray = lens.unproject({x, y});
      ASSERT_TRUE(ray) << x << ' ' << y;
      EXPECT_NEAR(norm(*ray), 1, 1e-14);
      const auto pixel = lens.project(*ray);
      ASSERT_TRUE(pixel) << x << ' ' << y;
      ASSERT_NEAR(pixel->x, x, 1e-6);
      ASSERT_NEAR(pixel->y, y, 1e-6);
    }
}

TEST_P(EveryModel, UnprojectIsExactUpToRounding) {
  const Lens lens(camera);
  std::mt19937 random(11u + static_cast<unsigned>(GetParam()));
  std::uniform_real_distribution<double> x(0, kWidth), y(0, kHeight);
  for (int i = 0; i < 5000; ++i) {
    const Vec2d pixel{x(random), y(random)};
    const auto back = lens.project(*lens.unproject(pixel));
    ASSERT_NEAR(back->x, pixel.x, 2e-12);
    ASSERT_NEAR(back->y, pixel.y, 2e-12);
  }
}

TEST_P(EveryModel, UnprojectFindsTheRayThatWasProjected) {
  std::mt19937 random(7u + static_cast<unsigned>(GetParam()));
  std::uniform_real_distribution<double> side(-1.5, 1.5);
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3d ray = normalized(Vec3d{side(random), side(random), 1});
    const auto pixel = Lens(camera).project(ray);
    if (!pixel) continue;
    const auto back = Lens(camera).unproject(*pixel);
    ASSERT_TRUE(back);
    // Close to an extremum of the distortion a pixel determines its ray poorly: test only away from it.
    if (!Lens(camera).project(normalized(Vec3d{1.02 * ray.x, 1.02 * ray.y, ray.z}))) continue;
    ++seen;
    ASSERT_LT(norm(*back - ray), 1e-9) << pixel->x << ' ' << pixel->y;
  }
  EXPECT_GT(seen, 500);
}

TEST_P(EveryModel, NothingBehindAndNothingForNonNumbers) {
  EXPECT_EQ(Lens(camera).project({0, 0, -1}).has_value(), is_panorama(camera.model));
  EXPECT_FALSE(Lens(camera).project({0, 0, 0}));
  EXPECT_FALSE(Lens(camera).project({0.1, NAN, 1}));
  EXPECT_FALSE(Lens(camera).unproject({INFINITY, 0}));
  EXPECT_TRUE(Lens(camera).project({0, 0, 1e-9}));
}

TEST_P(EveryModel, ParametersAreCounted) {
  EXPECT_EQ(static_cast<int>(camera.params.size()), parameter_count(camera.model));
  Camera broken = camera;
  broken.params.pop_back();
  EXPECT_THROW(Lens(broken).project({0, 0, 1}), std::exception);
}

TEST(Camera, NamesAndIdsAreThoseOfColmap) {
  EXPECT_EQ(model_from_name("SIMPLE_RADIAL"), CameraModel::kSimpleRadial);
  EXPECT_EQ(model_from_name("THIN_PRISM_FISHEYE"), CameraModel::kThinPrismFisheye);
  EXPECT_EQ(model_from_id(7), CameraModel::kFov);
  EXPECT_EQ(model_name(CameraModel::kFullOpenCv), "FULL_OPENCV");
  EXPECT_EQ(model_from_id(13), CameraModel::kDivision);
  EXPECT_EQ(model_from_id(17), CameraModel::kEquirectangular);
  EXPECT_EQ(model_from_name("EQUIRECTANGULAR"), CameraModel::kEquirectangular);
  EXPECT_FALSE(model_from_id(18));
  EXPECT_FALSE(model_from_id(-1));
  EXPECT_FALSE(model_from_name("simple_radial"));
  for (int id = 0; id < 18; ++id)
    EXPECT_EQ(model_from_name(model_name(*model_from_id(id))), *model_from_id(id));
}

TEST(Camera, ScaledShowsTheSameInAnotherSize) {
  for (const Camera& camera : realistic_cameras()) {
    const Camera half = scaled_camera(camera, kWidth / 2, kHeight / 2);
    EXPECT_EQ(half.width, kWidth / 2);
    for (const Vec3d x : {Vec3d{0.2, -0.1, 1}, {-0.3, 0.3, 1}}) {
      const auto pixel = Lens(camera).project(x), in_half = Lens(half).project(x);
      ASSERT_TRUE(pixel && in_half) << model_name(camera.model);
      EXPECT_NEAR(in_half->x, pixel->x / 2, 1e-9) << model_name(camera.model);
      EXPECT_NEAR(in_half->y, pixel->y / 2, 1e-9) << model_name(camera.model);
    }
  }
}

TEST(Camera, OnlyPinholesArePinholes) {
  const auto pinhole = as_pinhole({CameraModel::kSimplePinhole, 10, 20, {7, 5, 9}});
  ASSERT_TRUE(pinhole);
  EXPECT_EQ(pinhole->fy, 7);
  EXPECT_EQ(pinhole->cy, 9);
  EXPECT_EQ(pinhole->height, 20);
  EXPECT_EQ(to_camera(*pinhole).params, (std::vector<double>{7, 7, 5, 9}));
  EXPECT_FALSE(as_pinhole({CameraModel::kSimpleRadial, 10, 20, {7, 5, 9, 0}}));
}

Vec2d image_of(CameraModel model, std::vector<double> params, Vec3d x) {
  const auto pixel = Lens({model, 100, 100, std::move(params)}).project(x);
  EXPECT_TRUE(pixel);
  return pixel.value_or(Vec2d{NAN, NAN});
}

// By hand, at u = 0.5, v = -0.5, r^2 = 0.5 unless stated otherwise.
TEST(Camera, ProjectsByHand) {
  const Vec3d x{1, -1, 2};
  Vec2d p = image_of(CameraModel::kSimpleRadial, {100, 50, 40, 0.2}, x);  // 1 + 0.2 * 0.5 = 1.1
  EXPECT_NEAR(p.x, 105, 1e-12);
  EXPECT_NEAR(p.y, -15, 1e-12);
  p = image_of(CameraModel::kRadial, {100, 50, 40, 0.2, 0.4}, x);  // 1 + 0.1 + 0.1 = 1.2
  EXPECT_NEAR(p.x, 110, 1e-12);
  // u: 2 p1 u v + p2 (r^2 + 2 u^2) = 0.01 * -0.5 + 0.02 * 1 = 0.015; v: 2 p2 u v + p1 (r^2 + 2 v^2) = -0.01 +
  // 0.01 = 0
  p = image_of(CameraModel::kOpenCv, {100, 200, 50, 40, 0.2, 0, 0.01, 0.02}, x);
  EXPECT_NEAR(p.x, 50 + 100 * (0.55 + 0.015), 1e-12);
  EXPECT_NEAR(p.y, 40 + 200 * -0.55, 1e-12);
  // (1 + 0.1 + 0.1 + 0.125) / (1 + 0.05 + 0.05 + 0.125) = 1.325 / 1.225
  p = image_of(CameraModel::kFullOpenCv, {100, 100, 50, 40, 0.2, 0.4, 0, 0, 1, 0.1, 0.2, 1}, x);
  EXPECT_NEAR(p.x, 50 + 50 * 1.325 / 1.225, 1e-12);
}

TEST(Camera, ProjectsFisheyesByHand) {
  constexpr double kPi = std::numbers::pi;
  // 45 degrees off the axis along x: theta = pi / 4.
  Vec2d p = image_of(CameraModel::kSimpleRadialFisheye, {100, 50, 40, 0.1}, {3, 0, 3});
  EXPECT_NEAR(p.x, 50 + 100 * (kPi / 4) * (1 + 0.1 * kPi * kPi / 16), 1e-12);
  EXPECT_NEAR(p.y, 40, 1e-12);
  // 90 degrees and more are inside the image of a wide fisheye lens.
  p = image_of(CameraModel::kRadialFisheye, {100, 50, 40, 0, 0}, {0, 1, 0});
  EXPECT_NEAR(p.y, 40 + 100 * kPi / 2, 1e-12);
  p = image_of(CameraModel::kRadialFisheye, {100, 50, 40, 0, 0}, {0, 1, -1});
  EXPECT_NEAR(p.y, 40 + 100 * kPi * 3 / 4, 1e-12);
  // omega = 90 degrees: r_d = atan(2 r tan 45) / (pi / 2), at r = 0.5 it is 1 / 2.
  p = image_of(CameraModel::kFov, {100, 100, 50, 40, kPi / 2}, {0, 1, 2});
  EXPECT_NEAR(p.y, 40 + 100 * 0.5, 1e-12);
  // Thin prism: b = (theta, 0), theta = pi / 4; x: p2 (t^2 + 2 t^2) + sx t^2; y: p1 t^2 + sy t^2.
  const double t = kPi / 4;
  p = image_of(CameraModel::kThinPrismFisheye, {100, 100, 50, 40, 0, 0, 0.01, 0.02, 0, 0, 0.03, 0.04},
               {1, 0, 1});
  EXPECT_NEAR(p.x, 50 + 100 * (t + 0.06 * t * t + 0.03 * t * t), 1e-12);
  EXPECT_NEAR(p.y, 40 + 100 * (0.01 * t * t + 0.04 * t * t), 1e-12);
}

// The formulas of COLMAP 4, written down once more.
TEST(Camera, ProjectsTheFurtherModelsOfColmap4ByHand) {
  const Vec3d x{1, -1, 2};                                                   // u = 0.5, v = -0.5, r^2 = 0.5
  Vec2d p = image_of(CameraModel::kSimpleDivision, {100, 50, 40, -1.5}, x);  // 2 / (1 + sqrt(1 + 3)) = 2/3
  EXPECT_NEAR(p.x, 50 + 100 * 0.5 * 2 / 3, 1e-12);
  EXPECT_NEAR(p.y, 40 - 100 * 0.5 * 2 / 3, 1e-12);
  p = image_of(CameraModel::kDivision, {100, 200, 50, 40, 0.375}, x);  // 2 / (1 + sqrt(1 - 0.75)) = 4/3
  EXPECT_NEAR(p.x, 50 + 100 * 0.5 * 4 / 3, 1e-12);
  EXPECT_NEAR(p.y, 40 - 200 * 0.5 * 4 / 3, 1e-12);
  // alpha sqrt(1 + 6 * 0.5) + 1 - alpha = 0.25 * 2 + 0.75 = 1.25
  p = image_of(CameraModel::kEucm, {100, 200, 50, 40, 0.25, 6}, x);
  EXPECT_NEAR(p.x, 50 + 100 * 0.5 / 1.25, 1e-12);
  EXPECT_NEAR(p.y, 40 - 200 * 0.5 / 1.25, 1e-12);
  const double theta = std::atan(std::sqrt(0.5)), u = theta / std::numbers::sqrt2;
  p = image_of(CameraModel::kSimpleFisheye, {100, 50, 40}, x);
  EXPECT_NEAR(p.x, 50 + 100 * u, 1e-12);
  p = image_of(CameraModel::kFisheye, {100, 200, 50, 40}, x);
  EXPECT_NEAR(p.y, 40 - 200 * u, 1e-12);
  const double k[6] = {0.01, -0.02, 0.03, -0.04, 0.05, -0.06};
  const double p0 = 0.001, p1 = -0.002, s0 = 0.003, s1 = -0.004, s2 = 0.005, s3 = -0.006;
  p = image_of(CameraModel::kRadTanThinPrismFisheye,
               {100, 200, 50, 40, k[0], k[1], k[2], k[3], k[4], k[5], p0, p1, s0, s1, s2, s3}, x);
  double radial = 1;
  for (int i = 0; i < 6; ++i) radial += k[i] * std::pow(theta, 2 * i + 2);
  const double qx = radial * u, qy = -qx, rr = qx * qx + qy * qy;
  EXPECT_NEAR(p.x, 50 + 100 * (qx + 2 * p1 * qx * qy + p0 * (rr + 2 * qx * qx) + s0 * rr + s1 * rr * rr),
              1e-12);
  EXPECT_NEAR(p.y, 40 + 200 * (qy + 2 * p0 * qx * qy + p1 * (rr + 2 * qy * qy) + s2 * rr + s3 * rr * rr),
              1e-12);
}

TEST(Camera, AnEucmOutsideItsRangeShowsNothing) {
  for (const auto& [alpha, beta] : {std::pair(1.5, 1.0), {-0.1, 1.0}, {0.5, 0.0}, {0.5, -1.0}})
    EXPECT_FALSE(Lens({CameraModel::kEucm, 100, 100, {100, 100, 50, 50, alpha, beta}}).project({0, 0, 1}));
}

TEST(Camera, FovWithoutOmegaIsAPinhole) {
  for (const double omega : {0.0, 1e-9, 1e-5, -1e-5}) {
    const Vec2d p = image_of(CameraModel::kFov, {100, 100, 50, 40, omega}, {1, 0, 1});
    EXPECT_NEAR(p.x, 150, 1e-6);
  }
}

// r (1 + k r^2) with k = -1/3 increases up to r = 1, where it is 2/3; beyond it the lens folds over.
TEST(Camera, RejectsWhatLiesBeyondTheFold) {
  const Camera camera{CameraModel::kSimpleRadial, 200, 200, {100, 100, 100, -1.0 / 3}};
  EXPECT_TRUE(Lens(camera).project({0.999, 0, 1}));
  EXPECT_FALSE(Lens(camera).project({1.001, 0, 1}));
  EXPECT_FALSE(Lens(camera).project({1.7, 0, 1}));  // its formula gives a pixel near the image centre
  EXPECT_TRUE(Lens(camera).unproject({100 + 66.6, 100}));
  EXPECT_FALSE(Lens(camera).unproject({100 + 66.7, 100}));
  EXPECT_FALSE(Lens(camera).unproject({100 + 60, 100 + 60}));
  // The root below the fold, not one of the other two roots of the cubic.
  const auto ray = Lens(camera).unproject({100 + 100 * (0.5 - 0.125 / 3), 100});
  ASSERT_TRUE(ray);
  EXPECT_NEAR(ray->x / ray->z, 0.5, 1e-9);
}

TEST(Camera, StopsBeforeAPole) {
  // The denominator 1 - r^2 is zero at r = 1.
  const Camera camera{CameraModel::kFullOpenCv, 200, 200, {100, 100, 100, 100, 0, 0, 0, 0, 0, -1, 0, 0}};
  EXPECT_TRUE(Lens(camera).project({0.9, 0, 1}));
  EXPECT_FALSE(Lens(camera).project({1.1, 0, 1}));
}

TEST(Camera, StrongTangentialDistortionHasOneRootOrNone) {
  const Camera camera{CameraModel::kOpenCv, 200, 200, {100, 100, 100, 100, -0.1, 0, 0.05, 0.08}};
  const Lens lens(camera);
  int seen = 0;
  for (double y = 0; y < 200; y += 5)
    for (double x = 0; x < 200; x += 5) {
      const auto ray = lens.unproject({x, y});
      if (!ray) continue;
      ++seen;
      EXPECT_LT(std::hypot(ray->x, ray->y) / ray->z, 1.5);  // the other roots lie beyond
      const auto pixel = lens.project(*ray);
      ASSERT_TRUE(pixel);
      ASSERT_NEAR(pixel->x, x, 1e-6);
    }
  EXPECT_GT(seen, 800);
}

/// The pixels that OpenCV computes for the same camera; only the distortion is OpenCV's, pixel coordinates
/// are not converted.
std::vector<cv::Point2d> opencv_pixels(const Camera& camera, const std::vector<cv::Point3d>& points) {
  const auto& q = camera.params;
  const cv::Matx33d k(q[0], 0, q[2], 0, q[1], q[3], 0, 0, 1);
  const cv::Vec3d none(0, 0, 0);
  const std::vector<double> distortion(q.begin() + 4, q.end());
  std::vector<cv::Point2d> pixels;
  if (camera.model == CameraModel::kOpenCvFisheye)
    cv::fisheye::projectPoints(points, pixels, none, none, k, distortion);
  else
    cv::projectPoints(points, none, none, k, distortion, pixels);
  return pixels;
}

TEST(CameraAgainstOpenCv, ProjectsToTheSamePixels) {
  int models = 0;
  for (const Camera& camera : realistic_cameras()) {
    if (camera.model != CameraModel::kOpenCv && camera.model != CameraModel::kFullOpenCv &&
        camera.model != CameraModel::kOpenCvFisheye)
      continue;
    ++models;
    std::vector<cv::Point3d> points;
    for (double y = -0.5; y <= 0.5; y += 0.05)
      for (double x = -0.6; x <= 0.6; x += 0.05) points.emplace_back(3 * x, 3 * y, 3);
    const auto expected = opencv_pixels(camera, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto pixel = Lens(camera).project({points[i].x, points[i].y, points[i].z});
      ASSERT_TRUE(pixel);
      ASSERT_NEAR(pixel->x, expected[i].x, 1e-8) << model_name(camera.model);
      ASSERT_NEAR(pixel->y, expected[i].y, 1e-8) << model_name(camera.model);
    }
  }
  EXPECT_EQ(models, 3);
}

TEST(Lens, ProjectsRowsAsItProjectsPoints) {
  constexpr int kCount = 203;
  constexpr double kUntouched = -12345;
  for (const Camera& camera : realistic_cameras()) {
    const Lens lens(camera);
    std::vector<double> x(kCount + Lens::kRowSlack), px(x), py(x);
    for (int i = 0; i < kCount; ++i) x[static_cast<std::size_t>(i)] = 0.031 * (i - 100);
    px.back() = py.back() = kUntouched;
    int seen = 0, unseen = 0;
    for (const double y : {-4.0, -0.3, 0.0, 0.71}) {
      lens.project_row(x.data(), y, kCount, px.data(), py.data());
      for (std::size_t i = 0; i < kCount; ++i) {
        const auto expected = lens.project({x[i], y, 1.0});
        (expected ? seen : unseen) += 1;
        ASSERT_EQ(std::isnan(px[i]), !expected) << model_name(camera.model) << " " << x[i] << " " << y;
        if (!expected) continue;
        ASSERT_EQ(px[i], expected->x) << model_name(camera.model) << " " << x[i] << " " << y;
        ASSERT_EQ(py[i], expected->y) << model_name(camera.model) << " " << x[i] << " " << y;
      }
    }
    EXPECT_GT(seen, 0);
    EXPECT_EQ(px.back(), kUntouched);
  }
}

}  // namespace
}  // namespace recon
