#include "scene/undistort.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scene/camera.hpp"

namespace recon {
namespace {

/// A smooth pattern of the viewing direction: correct resampling gives the same colours.
Rgb8 colour_of(Vec3d ray) {
  const Vec3d unit = normalized(ray);
  const double u = unit.x, v = unit.y;
  const auto wave = [](double t) {
    return static_cast<std::uint8_t>(std::lround(127.5 + 120 * std::sin(t)));
  };
  return {wave(9 * u + 3 * v), wave(11 * v - 2 * u), wave(7 * (u - v) + 1)};
}

Image<Rgb8> photo_by(const Camera& camera) {
  const Lens lens(camera);
  Image<Rgb8> photo(camera.width, camera.height, Rgb8{0, 0, 0});
  for (int y = 0; y < camera.height; ++y)
    for (int x = 0; x < camera.width; ++x)
      if (const auto ray = lens.unproject(pixel_centre(x, y))) photo(x, y) = colour_of(*ray);
  return photo;
}

int largest_error(const Image<Rgb8>& image, const Pinhole& camera, int margin) {
  int worst = 0;
  for (int y = margin; y < image.height() - margin; ++y)
    for (int x = margin; x < image.width() - margin; ++x) {
      const Rgb8 a = image(x, y), b = colour_of(camera.ray(pixel_centre(x, y)));
      worst = std::max({worst, std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
    }
  return worst;
}

bool has_black(const Image<Rgb8>& image) {
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      if (image(x, y) == Rgb8{0, 0, 0}) return true;
  return false;
}

std::vector<Camera> distorted_cameras() {
  using M = CameraModel;
  return {
      {M::kSimpleRadial, 200, 151, {180, 101, 70, -0.15}},
      {M::kSimpleRadial, 200, 151, {180, 101, 70, 0.25}},
      {M::kSimpleRadial, 200, 151, {150, 101, 70, -0.4}},  // folds over inside the image
      {M::kOpenCv, 200, 151, {180, 150, 101, 80, 0.1, 0.02, 0.004, -0.003}},
      {M::kOpenCvFisheye, 200, 151, {80, 82, 99, 77, 0.02, 0.01, 0, 0}},
      {M::kFov, 200, 151, {100, 105, 99, 77, 1.0}},
      {M::kThinPrismFisheye, 200, 151, {90, 90, 99, 77, 0.02, 0.01, 0.002, -0.001, 0, 0, 0.004, 0.003}},
      {M::kSimpleRadialFisheye, 200, 151, {45, 100, 75, 0.01}},  // sees more than 180 degrees across
  };
}

class EveryLens : public ::testing::TestWithParam<int> {
 protected:
  const Camera camera = distorted_cameras()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(Lenses, EveryLens,
                         ::testing::Range(0, static_cast<int>(distorted_cameras().size())));

TEST_P(EveryLens, TheFrameIsCoveredAndAsLargeAsThePhotoAllows) {
  const Pinhole target = undistorted_camera(camera);
  ASSERT_LE(target.width, camera.width);
  ASSERT_LE(target.height, camera.height);
  ASSERT_GT(target.width * target.height, camera.width * camera.height / 3);
  const Lens lens(camera);
  const auto sees = [&](double x, double y) {
    const auto p = lens.project(target.ray({x, y}));
    return p && p->x >= -0.01 && p->y >= -0.01 && p->x <= camera.width + 0.01 && p->y <= camera.height + 0.01;
  };
  for (int y = 0; y < target.height; ++y)
    for (int x = 0; x < target.width; ++x) ASSERT_TRUE(sees(x + 0.5, y + 0.5)) << x << ' ' << y;
  // If the target is smaller than the photo, two more pixels on all sides would uncover some of it.
  if (target.width == camera.width && target.height == camera.height) return;
  bool covered = true;
  for (int x = -2; x <= target.width + 2; ++x) covered = covered && sees(x, -2) && sees(x, target.height + 2);
  for (int y = -2; y <= target.height + 2; ++y) covered = covered && sees(-2, y) && sees(target.width + 2, y);
  EXPECT_FALSE(covered);
}

/// A mask with ignored pixels scattered singly and a disc of them, and the photo that is white there.
struct MaskedPhoto {
  Image<std::uint8_t> mask;
  Image<Rgb8> photo;

  explicit MaskedPhoto(const Camera& camera)
      : mask(camera.width, camera.height, 255), photo(camera.width, camera.height, Rgb8{0, 0, 0}) {
    for (int y = 0; y < mask.height(); ++y)
      for (int x = 0; x < mask.width(); ++x)
        if ((x * 7 + y * 13) % 97 == 0 || std::hypot(x - 60, y - 50) < 15)
          mask(x, y) = 0, photo(x, y) = {255, 255, 255};
  }
};

TEST_P(EveryLens, IgnoresPixelsToWhichAnIgnoredOneContributes) {
  const MaskedPhoto in(camera);
  for (const int max_size : {0, 150, 70}) {
    const Pinhole target = undistorted_camera(camera, max_size);
    const Image<Rgb8> white = undistort(in.photo.view(), camera, target);
    const Image<std::uint8_t> mask = undistort_mask(in.mask.view(), camera, target);
    ASSERT_EQ(mask.width(), target.width);
    ASSERT_EQ(mask.height(), target.height);
    int ignored = 0, unfounded = 0;
    for (int y = 0; y < target.height; ++y)
      for (int x = 0; x < target.width; ++x) {
        ASSERT_TRUE(mask(x, y) == 0 || mask(x, y) == 255);
        ASSERT_FALSE(white(x, y).r > 0 && mask(x, y) != 0) << max_size << ": " << x << ' ' << y;
        ignored += mask(x, y) == 0;
        // Small contributions to a mean of several samples are rounded away.
        unfounded += mask(x, y) == 0 && white(x, y).r == 0;
      }
    EXPECT_GT(ignored, 300);
    EXPECT_LT(unfounded, ignored / 20) << max_size;
  }
}

TEST(UndistortMask, OfAPinholeIsACopyAndHalfTheSizeHasFourPixelsEach) {
  const Camera camera{CameraModel::kPinhole, 8, 6, {7, 7, 4, 3}};
  Image<std::uint8_t> mask(8, 6, 255);
  mask(2, 2) = mask(5, 4) = 0;
  const Image<std::uint8_t> same = undistort_mask(mask.view(), camera, undistorted_camera(camera));
  const Image<std::uint8_t> half = undistort_mask(mask.view(), camera, undistorted_camera(camera, 4));
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x) EXPECT_EQ(same(x, y), mask(x, y)) << x << ' ' << y;
  ASSERT_EQ(half.width(), 4);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      EXPECT_EQ(half(x, y), (x == 1 && y == 1) || (x == 2 && y == 2) ? 0 : 255) << x << ' ' << y;
}

TEST(Undistort, TheFrameIsDrawnInOnEachSideByItself) {
  // A pincushion lens with an off-centre principal point: each side of the target ends where the photo does.
  const Camera camera{CameraModel::kSimpleRadial, 200, 150, {180, 120, 60, 0.25}};
  const Pinhole target = undistorted_camera(camera);
  double left = 1e9, right = 0, top = 1e9, bottom = 0;
  for (int i = 0; i <= 200; ++i) {
    const double x = target.width * i / 200.0, y = target.height * i / 200.0;
    left = std::min(left, Lens(camera).project(target.ray({0, y}))->x);
    right = std::max(right, Lens(camera).project(target.ray({1.0 * target.width, y}))->x);
    top = std::min(top, Lens(camera).project(target.ray({x, 0}))->y);
    bottom = std::max(bottom, Lens(camera).project(target.ray({x, 1.0 * target.height}))->y);
  }
  // The other two sides crop the corners, where the photo extends furthest: within two pixels.
  EXPECT_NEAR(left, 0, 2);
  EXPECT_NEAR(right, 200, 3);
  EXPECT_NEAR(top, 0, 2);
  EXPECT_NEAR(bottom, 150, 3);
}

TEST_P(EveryLens, StraightensAPattern) {
  const Image<Rgb8> photo = photo_by(camera);
  const Pinhole target = undistorted_camera(camera);
  const Image<Rgb8> image = undistort(photo.view(), camera, target);
  EXPECT_FALSE(has_black(image));
  // 1.5 grey levels come from rounding twice, the rest from the curvature of the pattern between pixels; a
  // shift of half a pixel would be 4 and more (the slope of the waves is up to 120 * 11 / f levels per
  // pixel).
  const double f = std::min(target.fx, target.fy);
  EXPECT_LE(largest_error(image, target, 3), 2 + 120 * 130 / (8 * f * f) * 2);
}

TEST_P(EveryLens, ShrinksByAveraging) {
  const Pinhole target = undistorted_camera(camera, 67);
  EXPECT_EQ(std::max(target.width, target.height), 67);
  const Image<Rgb8> image = undistort(photo_by(camera).view(), camera, target);
  EXPECT_FALSE(has_black(image));
  const double f = std::min(target.fx, target.fy);
  EXPECT_LE(largest_error(image, target, 2), 2 + 120 * 130 / (24 * f * f) * 2);
}

TEST_P(EveryLens, AnyNumberOfThreadsGivesTheSameBytes) {
  const Image<Rgb8> photo = photo_by(camera);
  const Pinhole target = undistorted_camera(camera, 120);
  Image<Rgb8> one, many;
  ThreadLimit(1).run([&] { one = undistort(photo.view(), camera, target); });
  ThreadLimit(4).run([&] { many = undistort(photo.view(), camera, target); });
  for (int y = 0; y < target.height; ++y)
    for (int x = 0; x < target.width; ++x) ASSERT_EQ(one(x, y), many(x, y));
}

TEST(Undistort, CopiesWhatIsStraightAlready) {
  const Camera camera{CameraModel::kPinhole, 31, 17, {30, 25, 14, 9}};
  const Pinhole target = undistorted_camera(camera);
  EXPECT_EQ(target.width, 31);
  EXPECT_EQ(target.fy, 25);
  Image<Rgb8> photo(31, 17);
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 31; ++x)
      photo(x, y) = {static_cast<std::uint8_t>(x * 8), static_cast<std::uint8_t>(y * 15), 3};
  const Image<Rgb8> image = undistort(photo.view(), camera, target);
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 31; ++x) ASSERT_EQ(image(x, y), photo(x, y));
}

TEST(Undistort, HalvesByMeansOfFourPixels) {
  const Camera camera{CameraModel::kPinhole, 4, 2, {10, 10, 2, 1}};
  Image<Rgb8> photo(4, 2, Rgb8{0, 0, 0});
  photo(0, 0) = {100, 0, 4};
  photo(1, 1) = {20, 40, 4};
  photo(3, 1) = {200, 8, 12};
  const Pinhole target = undistorted_camera(camera, 2);
  EXPECT_EQ(target.height, 1);
  EXPECT_DOUBLE_EQ(target.fx, 5);
  EXPECT_DOUBLE_EQ(target.cx, 1);
  const Image<Rgb8> image = undistort(photo.view(), camera, target);
  EXPECT_EQ(image(0, 0), (Rgb8{30, 10, 2}));
  EXPECT_EQ(image(1, 0), (Rgb8{50, 2, 3}));
}

TEST(Undistort, KeepsRectangularPixelsAndOddSizes) {
  const Pinhole target = undistorted_camera({CameraModel::kPinhole, 1001, 333, {900, 600, 500.5, 100}}, 500);
  EXPECT_EQ(target.width, 500);
  EXPECT_EQ(target.height, 166);
  EXPECT_NEAR(target.fx, 900 * 500 / 1001.0, 1e-9);
  EXPECT_NEAR(target.cy, 100 * 166 / 333.0, 1e-9);
}

TEST(Undistort, LeavesBlackWhatThePhotoDoesNotShow) {
  const Camera camera{CameraModel::kPinhole, 10, 10, {10, 10, 5, 5}};
  const Image<Rgb8> photo(10, 10, Rgb8{9, 9, 9});
  const Image<Rgb8> image = undistort(photo.view(), camera, {20, 10, 10, 10, 10, 5});
  EXPECT_EQ(image(4, 5), (Rgb8{0, 0, 0}));
  EXPECT_EQ(image(5, 5), (Rgb8{9, 9, 9}));
  EXPECT_EQ(image(14, 5), (Rgb8{9, 9, 9}));
  EXPECT_EQ(image(15, 5), (Rgb8{0, 0, 0}));
}

TEST(Undistort, RefusesAPhotoOfAnotherSize) {
  const Camera camera{CameraModel::kPinhole, 10, 10, {10, 10, 5, 5}};
  const Image<Rgb8> photo(9, 10, Rgb8{9, 9, 9});
  EXPECT_THROW(undistort(photo.view(), camera, undistorted_camera(camera)), std::logic_error);
}

// OpenCV has pixel centres at integers, so its principal point is half a pixel less. Its remap rounds
// positions to 1/32 pixel: at slopes up to 120 * 11 / 180 levels per pixel in two directions that is up to
// 0.3 levels.
TEST(UndistortAgainstOpenCv, GivesTheSameImage) {
  const Camera camera = distorted_cameras()[3];
  const Image<Rgb8> photo = photo_by(camera);
  const Pinhole target = undistorted_camera(camera);
  const Image<Rgb8> image = undistort(photo.view(), camera, target);
  const auto& q = camera.params;
  const cv::Matx33d k(q[0], 0, q[2] - 0.5, 0, q[1], q[3] - 0.5, 0, 0, 1);
  const cv::Matx33d k_new(target.fx, 0, target.cx - 0.5, 0, target.fy, target.cy - 0.5, 0, 0, 1);
  const cv::Mat source(camera.height, camera.width, CV_8UC3, const_cast<Rgb8*>(photo.row(0)),
                       static_cast<std::size_t>(photo.pitch()) * sizeof(Rgb8));
  cv::Mat map_x, map_y, expected;
  cv::initUndistortRectifyMap(k, std::vector<double>(q.begin() + 4, q.end()), cv::noArray(), k_new,
                              {target.width, target.height}, CV_32FC1, map_x, map_y);
  cv::remap(source, expected, map_x, map_y, cv::INTER_LINEAR, cv::BORDER_REPLICATE);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const auto e = expected.at<cv::Vec3b>(y, x);
      ASSERT_LE(std::abs(image(x, y).r - e[0]), 1) << x << ' ' << y;
      ASSERT_LE(std::abs(image(x, y).g - e[1]), 1) << x << ' ' << y;
      ASSERT_LE(std::abs(image(x, y).b - e[2]), 1) << x << ' ' << y;
    }
}

}  // namespace
}  // namespace recon
