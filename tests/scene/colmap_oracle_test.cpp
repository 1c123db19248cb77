#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "io/model/colmap_model.hpp"
#include "scene/camera.hpp"
#include "scene/undistort.hpp"

namespace recon {
namespace {

constexpr int kPhotoWidth = 240, kPhotoHeight = 180;

std::vector<Camera> cameras_of_models() {
  using M = CameraModel;
  return {
      {M::kSimpleRadial, kPhotoWidth, kPhotoHeight, {180, 121, 87, -0.12}},
      {M::kRadial, kPhotoWidth, kPhotoHeight, {180, 121, 87, 0.1, 0.03}},
      {M::kOpenCv, kPhotoWidth, kPhotoHeight, {180, 150, 121, 87, -0.1, 0.02, 0.004, -0.003}},
      {M::kOpenCvFisheye, kPhotoWidth, kPhotoHeight, {120, 110, 121, 87, 0.02, 0.01, -0.004, 0.001}},
      {M::kFullOpenCv,
       kPhotoWidth,
       kPhotoHeight,
       {180, 170, 121, 87, 0.2, -0.05, 0.002, 0.001, 0.01, 0.3, 0.01, 0.002}},
      {M::kFov, kPhotoWidth, kPhotoHeight, {140, 130, 121, 87, 0.8}},
      {M::kSimpleRadialFisheye, kPhotoWidth, kPhotoHeight, {120, 121, 87, 0.05}},
      {M::kRadialFisheye, kPhotoWidth, kPhotoHeight, {120, 121, 87, -0.03, 0.01}},
      {M::kThinPrismFisheye,
       kPhotoWidth,
       kPhotoHeight,
       {120, 115, 121, 87, 0.02, -0.01, 0.003, -0.002, 0.002, 0.0005, 0.004, 0.003}},
  };
}

/// A pattern smooth enough for bilinear sampling and steep enough to reveal shifts of a tenth of a pixel.
cv::Mat pattern() {
  cv::Mat image(kPhotoHeight, kPhotoWidth, CV_8UC3);
  for (int y = 0; y < kPhotoHeight; ++y)
    for (int x = 0; x < kPhotoWidth; ++x)
      for (int c = 0; c < 3; ++c)
        image.at<cv::Vec3b>(y, x)[c] = static_cast<std::uint8_t>(
            std::lround(128 + 55 * std::sin(0.21 * x + c) + 55 * std::cos(0.19 * y - c)));
  return image;
}

/// A folder that is removed at the end.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "recon_scene_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// COLMAP undistorts a photo of every camera model; for the pinhole camera that it chose, our image has to be
// the same.
TEST(UndistortAgainstColmap, GivesTheSameImageForEveryModel) {
  if (std::system("command -v colmap > /dev/null 2>&1") != 0) GTEST_SKIP() << "COLMAP is not installed";
  const TemporaryFolder folder;
  const auto images = folder.path / "images", sparse = folder.path / "sparse", dense = folder.path / "dense";
  std::filesystem::create_directories(images);
  std::filesystem::create_directories(sparse);
  Scene scene;
  scene.cameras = cameras_of_models();
  const cv::Mat photo = pattern();
  for (std::size_t i = 0; i < scene.cameras.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(i + 1);
    scene.camera_ids.push_back(id);
    View view;
    view.id = id;
    view.name = "photo" + std::to_string(i) + ".png";
    view.camera = static_cast<int>(i);
    view.cam_from_world.translation = {static_cast<double>(i), 0, 0};
    scene.views.push_back(view);
    cv::imwrite((images / view.name).string(), photo);
  }
  write_colmap_model(sparse, scene, ColmapFormat::kText);
  const std::string command =
      "QT_QPA_PLATFORM=offscreen colmap image_undistorter --min_scale 1 --max_scale 1 --image_path '" +
      images.string() + "' --input_path '" + sparse.string() + "' --output_path '" + dense.string() +
      "' > '" + (folder.path / "log").string() + "' 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Scene undistorted = read_colmap_model(dense / "sparse");
  ASSERT_EQ(undistorted.views.size(), scene.views.size());

  const ImageView<const Rgb8> view{reinterpret_cast<const Rgb8*>(photo.data), kPhotoWidth, kPhotoHeight,
                                   kPhotoWidth};
  for (std::size_t i = 0; i < scene.views.size(); ++i) {
    SCOPED_TRACE(model_name(scene.cameras[i].model));
    const auto target =
        as_pinhole(undistorted.cameras[static_cast<std::size_t>(undistorted.views[i].camera)]);
    ASSERT_TRUE(target);
    const cv::Mat theirs = cv::imread((dense / "images" / scene.views[i].name).string());
    ASSERT_EQ(theirs.cols, target->width);
    ASSERT_GT(target->width * target->height, kPhotoWidth * kPhotoHeight / 3);
    const Image<Rgb8> ours =
        undistort(view, scene.cameras[i],
                  {target->width, target->height, target->fx, target->fy, target->cx, target->cy});
    // COLMAP leaves the outermost half pixel of a photo black.
    const Lens lens(scene.cameras[i]);
    int compared = 0, worst = 0;
    for (int y = 0; y < target->height; ++y)
      for (int x = 0; x < target->width; ++x) {
        const auto p = lens.project(target->ray(pixel_centre(x, y)));
        if (!p || p->x < 1 || p->y < 1 || p->x > kPhotoWidth - 1 || p->y > kPhotoHeight - 1) continue;
        ++compared;
        const cv::Vec3b b = theirs.at<cv::Vec3b>(y, x);
        const Rgb8 a = ours(x, y);
        worst = std::max({worst, std::abs(a.r - b[0]), std::abs(a.g - b[1]), std::abs(a.b - b[2])});
      }
    EXPECT_GT(compared, target->width * target->height * 8 / 10);
    EXPECT_LE(worst, 1);  // rounding
  }
}

}  // namespace
}  // namespace recon
