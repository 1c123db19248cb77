#include "io/model/nerf_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "io/error_message.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/format_writers.hpp"
#include "io/model/nerf_frames.hpp"
#include "io/model/scene_comparison.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kDemoFolder = RECON_SOURCE_DIR "/scenes/demo";

/// The camera of a frame with these members besides the size and the pose.
Camera camera_of(const std::string& members) {
  return parse_frames(one_frame(kSize, "\"file_path\": \"a.png\", " + kPose + ", " + members)).cameras.at(0);
}

TEST(NerfModel, OfTheDemoIsThatOfColmap) {
  const Scene colmap = read_colmap_model(kDemoFolder + "/sparse");
  expect_same_views(parse_frames(nerf_text(colmap, "./images//"), kDemoFolder), colmap, "images/", 1e-9);
}

TEST(NerfModel, ReadsPhotosWithoutSizeAndEndingByTheAngleOfView) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "train");
  write_image(folder / "train/r_0.png", Image<Rgb8>(8, 6).view());
  spill(folder / "transforms_train.json",
        one_frame("\"camera_angle_x\": 1.5", "\"file_path\": \"./train/r_0\", " + kPose));
  const Scene scene = read_nerf_model(folder / "transforms_train.json");
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].name, "train/r_0.png");
  const Camera& camera = scene.cameras.at(0);
  EXPECT_EQ(camera.model, CameraModel::kPinhole);
  EXPECT_EQ(camera.width, 8);
  EXPECT_EQ(camera.height, 6);
  const double f = 4 / std::tan(0.75);
  EXPECT_THAT(camera.params, testing::Pointwise(testing::DoubleEq(), {f, f, 4.0, 3.0}));
}

TEST(NerfModel, WarnsOfAFocalLengthThatContradictsTheAngleOfView) {
  const auto warnings = [](const std::string& members) {
    return parse_frames(one_frame(members + ", " + kSize, "\"file_path\": \"a.png\", " + kPose)).warnings;
  };
  EXPECT_THAT(warnings("\"fl_x\": 4.05, \"camera_angle_x\": 1.5707963"), testing::IsEmpty());
  EXPECT_THAT(
      warnings("\"fl_x\": 16, \"camera_angle_x\": 1.5707963"),
      testing::ElementsAre(StartsWith("transforms.json: fl_x is 16, but camera_angle_x is 1.5707963, which "
                                      "means 4 for a photo 8 pixels wide; fl_x is used")));
  EXPECT_THAT(warnings("\"fl_x\": 4, \"camera_angle_x\": \"unknown\""), testing::IsEmpty());
  EXPECT_THAT(warnings("\"fl_x\": 16, \"camera_angle_x\": 1.5707963, \"is_fisheye\": true"),
              testing::IsEmpty());
}

// nerfstudio and instant-ngp send the ray of pixel (i, j) through (i + 0.5, j + 0.5).
TEST(NerfModel, HasThePixelCentresOfNerfstudio) {
  const Scene scene =
      parse_frames(one_frame("\"fl_x\": 20, \"fl_y\": 25, \"cx\": 3.75, \"cy\": 2.5, " + kSize,
                             "\"file_path\": \"a.png\", " + kPose));
  const double i = 6, j = 1, depth = 4;
  // Of a camera with x right, y up, z backward.
  const Vec3d in_camera{depth * (i + 0.5 - 3.75) / 20, -depth * (j + 0.5 - 2.5) / 25, -depth};
  // By kPose, the camera looks along y of the world, and z of the world is up.
  const Vec3d in_world{5 + in_camera.x, 6 - in_camera.z, 7 + in_camera.y};
  const auto pixel = Lens(scene.cameras.at(0)).project(scene.views.at(0).cam_from_world * in_world);
  ASSERT_TRUE(pixel);
  EXPECT_NEAR(pixel->x, pixel_centre(6, 1).x, 1e-12);
  EXPECT_NEAR(pixel->y, pixel_centre(6, 1).y, 1e-12);
}

TEST(NerfModel, HasTheLensesOfColmap) {
  const std::string lens = "\"fl_x\": 9, \"fl_y\": 8, \"cx\": 4, \"cy\": 3, \"k1\": 0.1, \"k2\": 0.2";
  const Camera opencv = camera_of(lens + ", \"p1\": 0.01, \"p2\": 0.02, \"camera_model\": \"OPENCV\"");
  EXPECT_EQ(opencv.model, CameraModel::kOpenCv);
  EXPECT_EQ(opencv.params, (std::vector<double>{9, 8, 4, 3, 0.1, 0.2, 0.01, 0.02}));
  const Camera full = camera_of(lens + ", \"p1\": 0.01, \"p2\": 0.02, \"k3\": 0.3, \"k4\": 0");
  EXPECT_EQ(full.model, CameraModel::kFullOpenCv);
  EXPECT_EQ(full.params, (std::vector<double>{9, 8, 4, 3, 0.1, 0.2, 0.01, 0.02, 0.3, 0, 0, 0}));
  for (const char* fisheye : {"\"camera_model\": \"OPENCV_FISHEYE\"", "\"is_fisheye\": true"}) {
    const Camera camera = camera_of(lens + ", \"k3\": 0.3, \"k4\": 0.4, " + fisheye);
    EXPECT_EQ(camera.model, CameraModel::kOpenCvFisheye);
    EXPECT_EQ(camera.params, (std::vector<double>{9, 8, 4, 3, 0.1, 0.2, 0.3, 0.4}));
  }
}

// nerfstudio sends the ray of (x, y) of a panorama along theta = -pi (2 x / w - 1), phi = pi y / h:
// (-sin theta sin phi, cos phi, -cos theta sin phi), with y up and z backward (cameras.py).
TEST(NerfModel, HasThePanoramasOfNerfstudio) {
  const Scene scene = parse_frames(one_frame("\"camera_model\": \"EQUIRECTANGULAR\", \"w\": 80, \"h\": 40",
                                             "\"file_path\": \"a.png\", " + kPose));
  const Camera& camera = scene.cameras.at(0);
  EXPECT_EQ(camera.model, CameraModel::kEquirectangular);
  EXPECT_EQ(camera.params, (std::vector<double>{80, 40}));
  for (const Vec2d p : {Vec2d{40, 20}, Vec2d{55.5, 7.5}, Vec2d{3.5, 33}}) {
    const double theta = -std::numbers::pi * (2 * p.x / 80 - 1), phi = std::numbers::pi * p.y / 40;
    const Vec3d in_camera{-std::sin(theta) * std::sin(phi), std::cos(phi), -std::cos(theta) * std::sin(phi)};
    const Vec3d in_world{5 + in_camera.x, 6 - in_camera.z, 7 + in_camera.y};  // by kPose
    const auto pixel = Lens(camera).project(scene.views.at(0).cam_from_world * in_world);
    ASSERT_TRUE(pixel);
    EXPECT_NEAR(pixel->x, p.x, 1e-9);
    EXPECT_NEAR(pixel->y, p.y, 1e-9);
  }
}

TEST(NerfModel, TheLastRowOfAMatrixMayBeAbsent) {
  const auto pose = [](const std::string& last_row) {
    return parse_frames(
               one_frame("\"fl_x\": 9, " + kSize,
                         "\"file_path\": \"a.png\", \"transform_matrix\": [[1, 0, 0, 5], [0, 0, -1, 6], "
                         "[0, 1, 0, 7]" +
                             last_row + "]"))
        .views.at(0)
        .cam_from_world;
  };
  const Pose three = pose(""), four = pose(", [0, 0, 0, 1]");
  EXPECT_EQ(norm(three.translation - four.translation), 0);
  EXPECT_TRUE(std::equal(three.rotation.m, three.rotation.m + 9, four.rotation.m));
}

TEST(NerfModel, KeepsTheNamesOfDepthMaps) {
  const Scene scene =
      parse_frames(one_frame("\"fl_x\": 9, " + kSize,
                             "\"file_path\": \"rgb/a.png\", \"depth_file_path\": \"depth/a.png\", " + kPose));
  EXPECT_EQ(scene.views.at(0).depth_file, "depth/a.png");
}

TEST(NerfModel, TakesTheFrameBeforeTheFileAndEqualCamerasAsOne) {
  const auto frame = [](const std::string& members) { return "{" + members + ", " + kPose + "}"; };
  const Scene scene =
      parse_frames("{\"fl_x\": 9, " + kSize + ", \"frames\": [" + frame("\"file_path\": \"c\"") + ", " +
                   frame("\"file_path\": \"b\", \"fl_x\": 7, \"camera_angle_x\": 1") + ", " +
                   frame("\"file_path\": \"a\", \"w\": 8.0") + "]}");
  ASSERT_EQ(scene.views.size(), 3u);
  ASSERT_EQ(scene.cameras.size(), 2u);
  EXPECT_EQ(scene.views[0].camera, scene.views[2].camera);
  EXPECT_EQ(scene.cameras[static_cast<std::size_t>(scene.views[1].camera)].params,
            (std::vector<double>{7, 7, 4, 3}));
}

TEST(NerfModel, TakesTheAngleOfViewOfAFrameBeforeTheFocalLengthOfTheFile) {
  const Camera wide = parse_frames(one_frame(kSize + ", \"fl_x\": 9, \"fl_y\": 9",
                                             "\"file_path\": \"a.png\", " + kPose +
                                                 ", \"camera_angle_x\": 1.5, \"camera_angle_y\": 1.2"))
                          .cameras.at(0);
  EXPECT_THAT(wide.params,
              testing::Pointwise(testing::DoubleEq(), {4 / std::tan(0.75), 3 / std::tan(0.6), 4.0, 3.0}));
  EXPECT_THAT(frame_refusal(kSize + ", \"fl_x\": 9",
                            "\"file_path\": \"a.png\", " + kPose + ", \"camera_angle_x\": 4"),
              HasSubstr(": frames[0].camera_angle_x: is 4; it must be an angle"));
}

TEST(NerfModel, MakesRoundedRotationsExact) {
  const Scene scene =
      parse_frames(one_frame(kSize + ", \"fl_x\": 9",
                             "\"file_path\": \"a\", \"transform_matrix\": [[0.7071, -0.7071, 0, 1], "
                             "[0.7071, 0.7071, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]"));
  const Pose& pose = scene.views.at(0).cam_from_world;
  EXPECT_NEAR(pose.rotation(0, 0), std::numbers::sqrt2 / 2, 1e-5);
  const Mat3d product = pose.rotation * transpose(pose.rotation), one = identity<double>();
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(product.m[i], one.m[i], 1e-15);
  const Vec3d centre = camera_centre(pose);
  EXPECT_NEAR(centre.x, 1, 1e-14);
  EXPECT_NEAR(centre.y, 2, 1e-14);
  EXPECT_NEAR(centre.z, 3, 1e-14);
}

TEST(NerfModel, LeavesOutPhotosWithoutASize) {
  const TemporaryFolder folder;
  write_image(folder / "b.png", Image<Rgb8>(8, 6).view());
  const auto frame = [](const std::string& name) {
    return "{\"file_path\": \"" + name + "\", " + kPose + "}";
  };
  const Scene scene = parse_frames(
      "{\"fl_x\": 9, \"frames\": [" + frame("./c.JPG") + "," + frame("b") + "," + frame("a") + "]}",
      folder.path());
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].name, "b.png");
  ASSERT_EQ(scene.unusable.size(), 2u);
  EXPECT_EQ(scene.unusable[0].name, "a.png");
  EXPECT_THAT(scene.unusable[0].reason, HasSubstr((folder / "a.png").string()));
  EXPECT_EQ(scene.unusable[1].name, "c.JPG");
}

/// A frame of a photo whose camera is at (x, 0, 0).
std::string frame_of(const std::string& photo, double x = 0, const std::string& members = "") {
  return "{\"file_path\": \"" + photo + "\", \"transform_matrix\": [[1, 0, 0, " + digits(x) +
         "], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]" + members + "}";
}

Scene parse_list(const std::vector<std::string>& frames, const std::filesystem::path& folder,
                 bool moved = false) {
  std::string text;
  for (const std::string& frame : frames) text += (text.empty() ? "" : ", ") + frame;
  return parse_nerf_model("{\"fl_x\": 9, \"w\": 8, \"h\": 6, \"frames\": [" + text + "]}", "transforms.json",
                          folder, std::numeric_limits<std::size_t>::max(), moved);
}

TEST(NerfModel, FindsAbsolutePathsByTheirLastComponents) {
  const TemporaryFolder folder;
  for (const char* file : {"images/a.jpg", "images/sub/a.jpg", "b.jpg", "images/c.png", "etc/passwd"})
    spill(folder / file, "");
  const Scene scene = parse_list(
      {frame_of("/home/user/capture/images/a.jpg"), frame_of("/images/images/sub/../sub/a.jpg"),
       frame_of("D:\\\\capture\\\\images\\\\b.jpg"), frame_of("\\\\\\\\server\\\\share\\\\images\\\\c"),
       frame_of("/home/user/images/absent.jpg"), frame_of("/etc/hostname")},
      folder.path());
  std::vector<std::string> names, files;
  for (const View& view : scene.views) names.push_back(view.name), files.push_back(view.photo_file());
  EXPECT_THAT(names, testing::ElementsAre("b.jpg", "images/a.jpg", "images/c.png", "images/sub/a.jpg"));
  EXPECT_EQ(files, names);
  ASSERT_EQ(scene.unusable.size(), 2u) << "files of this machine are not looked at";
  EXPECT_EQ(scene.unusable[0].name, "absent.jpg");
  EXPECT_THAT(
      scene.unusable[0].reason,
      HasSubstr("last components of \"/home/user/images/absent.jpg\"; --images names another folder"));
}

TEST(NerfModel, FindsPhotosInAnotherFolderByTheirLastComponents) {
  const TemporaryFolder folder;
  for (const char* file : {"a.jpg", "sub/b.jpg"}) spill(folder / file, "");
  const Scene scene =
      parse_list({frame_of("./images/a.jpg"), frame_of("../../elsewhere/sub/b.jpg")}, folder.path(), true);
  ASSERT_EQ(scene.views.size(), 2u);
  EXPECT_EQ(scene.views[0].name, "a.jpg");
  EXPECT_EQ(scene.views[1].name, "sub/b.jpg");
}

TEST(NerfModel, ReadsPhotosBesideTheFolderOfTheFile) {
  const TemporaryFolder folder;
  write_image(folder / "images/a.png", Image<Rgb8>(8, 6).view());
  spill(folder / "out/transforms.json",
        one_frame("\"fl_x\": 9",
                  "\"file_path\": \"../images/a\", \"mask_path\": \"../masks/a.png\", " + kPose));
  const Scene scene = read_nerf_model(folder / "out/transforms.json");
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].name, "images/a.png") << "results stay inside their folder";
  EXPECT_EQ(scene.views[0].photo, "../images/a.png");
  EXPECT_EQ(scene.views[0].mask_file, (folder / "out/../masks/a.png").string());
}

TEST(NerfModel, ReadsPathsOfWindows) {
  const TemporaryFolder folder;
  spill(folder / "images/a.jpg", "");
  EXPECT_EQ(parse_list({frame_of("images\\\\a.jpg")}, folder.path()).views[0].name, "images/a.jpg");
}

TEST(NerfModel, DividesByTheLastElementOfAMatrix) {
  const double rows[4][4] = {{1, 0, 0, 5}, {0, 0, -1, 6}, {0, 1, 0, 7}, {0, 0, 0, 1}};
  for (const double w : {0.00118, -3.0}) {
    std::string text;
    for (const auto& row : rows) {
      text += text.empty() ? "[" : "], [";
      for (int i = 0; i < 4; ++i) text += (i > 0 ? ", " : "") + digits(w * row[i]);
    }
    const Scene scene = parse_frames(one_frame(
        "\"fl_x\": 9, " + kSize, "\"file_path\": \"a.png\", \"transform_matrix\": [" + text + "]]"));
    const Vec3d centre = camera_centre(scene.views.at(0).cam_from_world);
    EXPECT_NEAR(centre.x, 5, 1e-12) << w;
    EXPECT_NEAR(centre.y, 6, 1e-12) << w;
    EXPECT_NEAR(centre.z, 7, 1e-12) << w;
  }
}

TEST(NerfModel, LeavesOutTheSecondFrameOfAPhotoAndSaysSo) {
  const Scene once = parse_list({frame_of("a.png", 1), frame_of("b.png", 2)}, "nowhere");
  EXPECT_TRUE(once.warnings.empty());
  const Scene twice =
      parse_list({frame_of("a.png", 1), frame_of("b.png", 2), frame_of("./a.png", 1)}, "nowhere");
  ASSERT_EQ(twice.views.size(), 2u);
  EXPECT_THAT(
      twice.warnings,
      testing::ElementsAre("transforms.json: frames[2].file_path: the photo \"a.png\" is there already, "
                           "in transforms.json: frames[0].file_path; the second is left out"));
  const Scene other = parse_list({frame_of("a.png", 1), frame_of("b.png", 2), frame_of("a.png", 7),
                                  frame_of("b.png", 2), frame_of("b.png", 2, ", \"fl_x\": 8")},
                                 "nowhere");
  ASSERT_EQ(other.views.size(), 2u);
  EXPECT_EQ(camera_centre(other.views[0].cam_from_world).x, 1);
  ASSERT_EQ(other.warnings.size(), 1u);
  EXPECT_THAT(other.warnings[0],
              HasSubstr("as are 2 more of that kind; 2 of them with another pose or camera"));
}

TEST(NerfModel, NamesTheMasksOfNerfstudioAndInstantNgp) {
  const TemporaryFolder folder;
  spill(folder / "images/dynamic_mask_b.png", "");
  spill(folder / "images/dynamic_mask_c.png", "");
  const Scene scene =
      parse_list({frame_of("images/a.jpg", 1, ", \"mask_path\": \"mask/a.png\""), frame_of("images/b.jpg", 2),
                  frame_of("images/c.jpg", 3, ", \"mask_path\": \"mask/c.png\""),
                  frame_of("images/d.jpg", 4, ", \"mask_path\": null")},
                 folder.path());
  ASSERT_EQ(scene.views.size(), 4u);
  EXPECT_EQ(scene.views[0].mask_file, (folder / "mask/a.png").string());
  EXPECT_EQ(scene.views[0].mask_kind, MaskKind::kBlack);
  EXPECT_EQ(scene.views[1].mask_file, (folder / "images/dynamic_mask_b.png").string());
  EXPECT_EQ(scene.views[1].mask_kind, MaskKind::kNotBlack);
  EXPECT_EQ(scene.views[2].mask_file, (folder / "mask/c.png").string());
  EXPECT_EQ(scene.views[2].mask_kind, MaskKind::kBlack);
  EXPECT_EQ(scene.views[3].mask_file, "");
}

TEST(NerfModel, CountsTowardsTheMemoryLimit) {
  const TemporaryFolder folder;
  spill(folder / "transforms.json", one_frame(kSize + ", \"fl_x\": 9", "\"file_path\": \"a\", " + kPose));
  EXPECT_EQ(read_nerf_model(folder / "transforms.json", 10000).views.size(), 1u);
  for (const std::size_t limit : {0, 1000})
    EXPECT_THAT(message_of<OutOfMemory>([&] { read_nerf_model(folder / "transforms.json", limit); }),
                HasSubstr("raise --memory-limit"));
}

}  // namespace
}  // namespace recon
