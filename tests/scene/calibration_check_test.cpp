// Cameras and poses against sparse points and the sizes of photos, checked by hand.

#include "scene/calibration_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace recon {
namespace {

const Camera kTenPixelCamera{CameraModel::kPinhole, 100, 80, {100, 100, 50, 40}};

/// Two cameras with x to the right, two units apart, that look at twelve points on the plane z = 10.
Scene two_views() {
  Scene scene;
  scene.camera_ids = {1};
  scene.cameras = {kTenPixelCamera};
  scene.views = {{1, "a.png", 0, {identity<double>(), {1, 0, 0}}, {}},
                 {2, "b.png", 0, {identity<double>(), {-1, 0, 0}}, {}}};
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Vec3d x{static_cast<double>(i % 4) - 1.5, static_cast<double>(i / 4) - 1, 10};
    scene.points.push_back({i + 7, x, {}, 0, {}});
    for (View& view : scene.views) {
      const Vec3d in_cam = view.cam_from_world * x;
      view.observations.push_back({{10 * in_cam.x + 50, 10 * in_cam.y + 40}, i + 7});
    }
  }
  return scene;
}

std::vector<int> all_views(const Scene& scene) {
  std::vector<int> views(scene.views.size());
  std::iota(views.begin(), views.end(), 0);
  return views;
}

SceneFit fit(const Scene& scene) {
  return fit_observations(scene, all_views(scene));
}

/// A turn about the y axis by `degrees`, in front of a pose.
Pose turned(const Pose& pose, double degrees) {
  const double c = std::cos(degrees * std::acos(-1.0) / 180), s = std::sin(degrees * std::acos(-1.0) / 180);
  return Pose{{{c, 0, s, 0, 1, 0, -s, 0, c}}, {0, 0, 0}} * pose;
}

TEST(CalibrationCheck, RightViewsHaveNoError) {
  const SceneFit it = fit(two_views());
  EXPECT_EQ(it.all.observations, 24u);
  EXPECT_NEAR(it.all.median_error, 0, 1e-12);
  EXPECT_EQ(it.all.behind, 0);
  ASSERT_EQ(it.views.size(), 2u);
  EXPECT_EQ(it.views[1].observations, 12u);
  EXPECT_FALSE(is_off(it.all) || is_off(it.views[0]) || is_off(it.views[1]) || is_unusable(it.all));
}

TEST(CalibrationCheck, AnErrorIsTheDistanceInPixels) {
  Scene scene = two_views();
  for (Observation& it : scene.views[1].observations.edit()) it.pixel = {it.pixel.x + 3, it.pixel.y - 4};
  const SceneFit it = fit(scene);
  EXPECT_NEAR(it.views[1].median_error, 5, 1e-12);
  EXPECT_NEAR(it.views[1].median_of_side, 0.05, 1e-12);
  EXPECT_TRUE(is_off(it.views[1]));
  EXPECT_FALSE(is_off(it.views[0]));
}

TEST(CalibrationCheck, LargePhotosMayHaveLargerErrorsAndSmallOnesLess) {
  const auto off = [](double error, double side) { return is_off({100, 0, error, error / side, error}); };
  EXPECT_TRUE(off(3.1, 1000));
  EXPECT_FALSE(off(3.1, 3400));
  EXPECT_FALSE(off(2.9, 1000));
  EXPECT_TRUE(off(2.9, 256)) << "a hundredth of the photo";
  EXPECT_TRUE(off(1.4, 256));
  EXPECT_FALSE(off(1.2, 256));
  EXPECT_FALSE(off(0.7, 96)) << "where pixels are counted from says as much";
  EXPECT_TRUE(is_off({100, 0.06, 1, 0.0001, 1})) << "points behind the camera";
  EXPECT_FALSE(is_off({100, 0.04, 1, 0.0001, 1}));
  EXPECT_FALSE(is_off({9, 1, 50, 0.5, 50})) << "few observations say nothing";
}

TEST(CalibrationCheck, ErrorsThatMotionsOfWholePhotosExplainAreNoScatter) {
  const auto off = [](double error, double side, double moved) {
    return is_off({100, 0, error, error / side, moved});
  };
  EXPECT_TRUE(off(1.6, 640, 0.3));
  EXPECT_FALSE(off(1.6, 640, 0.6)) << "it scatters";
  EXPECT_FALSE(off(1.2, 640, 0.1)) << "small";
  EXPECT_TRUE(off(2.5, 1000, 0.5));
}

/// Two cameras of 256 pixels with forty points that are seen with errors of 0.23 pixels (median).
Scene two_small_photos() {
  Scene scene = two_views();
  scene.cameras[0] = {CameraModel::kPinhole, 256, 192, {230, 230, 128, 96}};
  scene.points.clear();
  for (View& view : scene.views) view.observations.clear();
  for (std::uint64_t i = 0; i < 40; ++i) {
    const double column = static_cast<double>(i % 8), row = static_cast<double>(i / 8);
    const Vec3d x{column - 3.5, 1.5 * row - 3, 10 + 0.5 * std::sin(7.0 * column + row)};
    scene.points.push_back({i, x, {}, 0, {}});
    for (View& view : scene.views) {
      const Vec2d pixel = *Lens(scene.cameras[0]).project(view.cam_from_world * x);
      const double angle = 2.4 * static_cast<double>(i + 40 * view.id);  // scattered in all directions
      view.observations.push_back({{pixel.x + 0.23 * std::cos(angle), pixel.y + 0.23 * std::sin(angle)}, i});
    }
  }
  return scene;
}

TEST(CalibrationCheck, PosesOfSmallPhotosThatAreTurnedByADegreeAndAHalfAreOff) {
  const Scene right = two_small_photos();
  EXPECT_NEAR(fit(right).all.median_error, 0.23, 1e-6);
  EXPECT_FALSE(is_off(fit(right).all) || is_off(fit(right).views[0]));
  const double c = std::cos(1.5 * std::acos(-1.0) / 180), s = std::sin(1.5 * std::acos(-1.0) / 180);
  const Pose roll{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {0, 0, 0}};
  Scene wrong = right;
  for (View& view : wrong.views) view.cam_from_world = roll * view.cam_from_world;
  const SceneFit it = fit(wrong);
  EXPECT_GT(it.all.median_error, 1);
  EXPECT_LT(it.all.median_error, 3) << "less than what a large photo may have";
  EXPECT_LT(it.all.median_moved, 0.3);
  EXPECT_TRUE(is_off(it.all) && is_off(it.views[0]) && is_off(it.views[1]));
  wrong = right;
  wrong.views[1].cam_from_world = roll * wrong.views[1].cam_from_world;
  EXPECT_TRUE(is_off(fit(wrong).views[1]));
  EXPECT_FALSE(is_off(fit(wrong).views[0]));
  wrong = right;
  for (double* focal : {&wrong.cameras[0].params[0], &wrong.cameras[0].params[1]}) *focal *= 1.02;
  EXPECT_TRUE(is_off(fit(wrong).all)) << "focal lengths";
}

TEST(CalibrationCheck, PointsBehindTheCameraAreCounted) {
  Scene scene = two_views();
  scene.views[0].cam_from_world = turned(scene.views[0].cam_from_world, 180);
  const SceneFit it = fit(scene);
  EXPECT_EQ(it.views[0].behind, 1);
  EXPECT_TRUE(std::isinf(it.views[0].median_error));
  EXPECT_TRUE(is_off(it.views[0]));
  EXPECT_EQ(it.all.behind, 0.5);
  EXPECT_TRUE(is_off(it.all));
}

TEST(CalibrationCheck, ObservationsWithoutAPointAreNotCounted) {
  Scene scene = two_views();
  scene.views[0].observations.push_back({{99, 79}, kNoPoint});
  scene.views[0].observations.push_back({{99, 79}, 1234});
  EXPECT_EQ(fit(scene).views[0].observations, 12u);
  scene.points.clear();
  EXPECT_EQ(fit(scene).all.observations, 0u);
  EXPECT_FALSE(is_off(fit(scene).all) || is_unusable(fit(scene).all));
}

TEST(CalibrationCheck, MostPointsBehindOrFarFromTheirObservationsAreUnusable) {
  EXPECT_FALSE(is_unusable({100, 0.4, 50, 0.09}));
  EXPECT_TRUE(is_unusable({100, 0.6, 1, 0.01}));
  EXPECT_TRUE(is_unusable({100, 0, 60, 0.11}));
  EXPECT_FALSE(is_unusable({9, 1, 500, 1})) << "few observations say nothing";
}

TEST(CalibrationCheck, ObservationsAtOnePlaceSayNothing) {
  for (const Vec2d place : {Vec2d{0, 0}, Vec2d{-1, -1}, Vec2d{50, 40}}) {
    Scene scene = two_views();
    for (Observation& it : scene.views[1].observations.edit()) it.pixel = place;
    scene.views[1].observations.push_back({{99, 79}, kNoPoint});
    const SceneFit it = fit(scene);
    EXPECT_EQ(it.placeholders, 1u);
    EXPECT_EQ(it.views[1].observations, 0u);
    EXPECT_EQ(it.all.observations, 12u);
    EXPECT_FALSE(is_off(it.all) || is_off(it.views[1]));
  }
  EXPECT_EQ(fit(two_views()).placeholders, 0u);
  Scene one_point = two_views();
  for (View& view : one_point.views) {
    const Observation first = view.observations[0];
    view.observations.clear();
    view.observations.push_back(first);
  }
  EXPECT_EQ(fit(one_point).placeholders, 0u) << "a single observation is at one place anyway";
}

TEST(CalibrationCheck, OnlyTheGivenViewsCount) {
  Scene scene = two_views();
  scene.views[0].cam_from_world = turned(scene.views[0].cam_from_world, 20);
  const std::vector<int> second = {1};
  const SceneFit it = fit_observations(scene, second);
  ASSERT_EQ(it.views.size(), 1u);
  EXPECT_NEAR(it.all.median_error, 0, 1e-12);
}

/// Whether a scene with a mistake is noticed, and explained.
void expect_explained(const Scene& scene, CalibrationMistake mistake) {
  EXPECT_TRUE(is_off(fit(scene).all)) << static_cast<int>(mistake);
  EXPECT_EQ(explain_misfit(scene, all_views(scene)), mistake) << static_cast<int>(mistake);
}

TEST(CalibrationCheck, MistakesOfWholeModelsAreExplained) {
  Scene right = two_views();
  for (View& view : right.views) {
    view.cam_from_world = turned(view.cam_from_world, view.id == 1 ? 8 : -8);
    view.cam_from_world.translation = view.cam_from_world.translation + Vec3d{0, 2, 1};
  }
  for (std::size_t v = 0; v < 2; ++v)
    for (std::size_t i = 0; i < 12; ++i) {
      const Vec3d x = right.views[v].cam_from_world * right.points[i].position;
      right.views[v].observations.edit()[i].pixel = *Lens(kTenPixelCamera).project(x);
    }
  ASSERT_FALSE(is_off(fit(right).all));
  const Mat3d flip{{1, 0, 0, 0, -1, 0, 0, 0, -1}};
  Scene wrong = right;
  for (View& view : wrong.views) view.cam_from_world = inverse(view.cam_from_world);
  expect_explained(wrong, CalibrationMistake::kInverted);
  wrong = right;
  for (View& view : wrong.views) view.cam_from_world = Pose{flip, {0, 0, 0}} * view.cam_from_world;
  expect_explained(wrong, CalibrationMistake::kAxes);
  wrong = right;
  for (View& view : wrong.views) view.cam_from_world = inverse(Pose{flip, {0, 0, 0}} * view.cam_from_world);
  expect_explained(wrong, CalibrationMistake::kInvertedAxes);
  wrong = right;
  for (View& view : wrong.views) view.cam_from_world.translation = camera_centre(view.cam_from_world);
  expect_explained(wrong, CalibrationMistake::kCentre);
  wrong = right;
  wrong.cameras[0].params = {25, 25, 12.5, 10};
  expect_explained(wrong, CalibrationMistake::kImageSize);
  wrong = right;
  for (SparsePoint& point : wrong.points.edit()) point.position = 3.0 * point.position + Vec3d{0, 5, 0};
  EXPECT_TRUE(is_off(fit(wrong).all));
  EXPECT_FALSE(explain_misfit(wrong, all_views(wrong)));
}

Camera pinhole(double fx, double fy, double cx, double cy) {
  return {CameraModel::kPinhole, 400, 300, {fx, fy, cx, cy}};
}

TEST(CalibrationCheck, PrincipalPointsFarFromTheMiddleAreDoubted) {
  EXPECT_FALSE(doubt_camera(pinhole(400, 400, 200, 150)).any());
  EXPECT_FALSE(doubt_camera(pinhole(400, 400, 150, 190)).any()) << "cropped photos";
  EXPECT_TRUE(doubt_camera(pinhole(400, 400, 100, 150)).principal_point);
  EXPECT_TRUE(doubt_camera(pinhole(400, 400, 200, 75)).principal_point);
  EXPECT_TRUE(doubt_camera(pinhole(800, 800, 400, 300)).principal_point) << "K of images of twice the size";
  const Camera fisheye{CameraModel::kOpenCvFisheye, 400, 300, {100, 100, 50, 37, 0, 0, 0, 0}};
  EXPECT_TRUE(doubt_camera(fisheye).principal_point);
}

TEST(CalibrationCheck, TheSizeThatACameraIsForIsAWholeFactorAwayWhereItIsNear) {
  const auto factors = [](double cx, double cy) { return size_factors({cx, cy}, 400, 300); };
  EXPECT_EQ(factors(50, 37.5), (std::array{4.0, 4.0}));
  EXPECT_EQ(factors(47, 39), (std::array{4.0, 4.0}));
  EXPECT_EQ(factors(420, 290), (std::array{0.5, 0.5}));
  EXPECT_EQ(factors(125, 100), (std::array{1.6, 1.5})) << "near no whole number";
}

TEST(CalibrationCheck, FocalLengthsInOtherUnitsAreDoubted) {
  EXPECT_TRUE(doubt_camera(pinhole(24, 24, 200, 150)).angle) << "millimetres";
  EXPECT_TRUE(doubt_camera(pinhole(1.2, 1.2, 200, 150)).angle);
  EXPECT_TRUE(doubt_camera(pinhole(60000, 60000, 200, 150)).angle);
  EXPECT_FALSE(doubt_camera(pinhole(8000, 8000, 200, 150)).any()) << "a long lens";
  EXPECT_FALSE(doubt_camera(pinhole(100, 100, 200, 150)).any()) << "a wide one";
  EXPECT_NEAR(angle_of_view(pinhole(200, 200, 200, 150)), 90, 1e-12);
  EXPECT_TRUE(doubt_camera(pinhole(900, 400, 200, 150)).ratio);
  EXPECT_FALSE(doubt_camera(pinhole(580, 400, 200, 150)).any()) << "pixels that are not square";
}

}  // namespace
}  // namespace recon
