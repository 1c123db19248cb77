#include "io/model/mvsnet_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/error_message.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/model/format_writers.hpp"
#include "io/model/scene_comparison.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kDemo = RECON_SOURCE_DIR "/scenes/demo";
const std::string kWholeCamera =
    "extrinsic\n1 0 0 5\n0 0 -1 6\n0 1 0 7\n0.0 0.0 0.0 1.0\n\n"
    "intrinsic\n20 0 3.75\n0 25 2.5\n0 0 1\n\n425.0 2.5";

MvsnetCamera parse_camera(const std::string& text) {
  return parse_mvsnet_camera(text, "0_cam.txt");
}

/// The refusal of the whole text with a part replaced.
std::string camera_refusal(const std::string& part, const std::string& replacement) {
  std::string text = kWholeCamera;
  text.replace(text.find(part), part.size(), replacement);
  return message_of<InputError>([&] { parse_camera(text); });
}

TEST(MvsnetModel, OfTheDemoIsThatOfColmap) {
  const Scene colmap = read_colmap_model(kDemo + "/sparse");
  const TemporaryFolder folder;
  for (std::size_t v = 0; v < colmap.views.size(); ++v)
    spill(folder / (fs::path(colmap.views[v].name).stem().string() + "_cam.txt"), mvsnet_text(colmap, v));
  spill(folder / "pair.txt", "0\n");
  expect_same_views(read_mvsnet_model(folder.path(), kDemo + "/images"), colmap, "", 1e-9);
}

// MVSNet warps with its matrices what is at (i + 0.5, j + 0.5) for pixel (i, j).
TEST(MvsnetModel, HasThePixelCentresOfMvsnet) {
  const MvsnetCamera camera = parse_camera(kWholeCamera);
  const double i = 6, j = 1, depth = 4;
  const Vec3d in_camera{depth * (i + 0.5 - 3.75) / 20, depth * (j + 0.5 - 2.5) / 25, depth};
  // The inverse of the matrix "extrinsic".
  const Vec3d in_world{in_camera.x - 5, in_camera.z - 7, 6 - in_camera.y};
  const Vec2d pixel = camera.pinhole.project(camera.cam_from_world * in_world);
  EXPECT_NEAR(pixel.x, pixel_centre(6, 1).x, 1e-12);
  EXPECT_NEAR(pixel.y, pixel_centre(6, 1).y, 1e-12);
}

TEST(MvsnetModel, TakesWhatOtherProgramsWrite) {
  std::string text = "\xEF\xBB\xBF" + kWholeCamera + " 192 905.5\r\n";
  text.replace(text.find("20 0 3.75"), 9, " 2e1\t-1e-7 3.75 \r");
  EXPECT_EQ(parse_camera(text).pinhole.fx, 20);
  EXPECT_EQ(parse_camera(kWholeCamera.substr(0, kWholeCamera.find("425"))).pinhole.fy, 25)
      << "depths are not needed";
}

TEST(MvsnetModel, ReadsWhatTheTitlesOfTheMatricesSay) {
  const auto with_titles = [](const std::string& extrinsic, const std::string& intrinsic) {
    std::string text = kWholeCamera;
    text.replace(text.find("intrinsic"), 9, "intrinsic" + intrinsic);
    text.replace(text.find("extrinsic"), 9, "extrinsic" + extrinsic);
    return parse_camera(text);
  };
  const MvsnetCamera plain = parse_camera(kWholeCamera);
  const MvsnetCamera titled =
      with_titles(" opencv(x Right, y Down, z Forward) world2camera", ": fx fy cx cy (pixel)");
  EXPECT_EQ(titled.cam_from_world.translation.z, plain.cam_from_world.translation.z);
  EXPECT_EQ(titled.pinhole.cy, plain.pinhole.cy);
  const Pose expected = inverse(plain.cam_from_world);
  for (const char* title : {"\tcamera2world", " opencv(x Right) cam2world", " (C2W)"}) {
    const MvsnetCamera inverted = with_titles(title, "");
    EXPECT_EQ(inverted.cam_from_world.translation.z, expected.translation.z) << title;
    for (int i = 0; i < 9; ++i)
      EXPECT_EQ(inverted.cam_from_world.rotation.m[i], expected.rotation.m[i]) << title;
  }
}

TEST(MvsnetModel, LeavesOutPhotosThatCannotBeRead) {
  const TemporaryFolder folder;
  for (const char* name : {"0", "1", "2"}) spill(folder / (std::string(name) + "_cam.txt"), kWholeCamera);
  std::string no_pose = kWholeCamera;
  spill(folder / "3_cam.txt", no_pose.replace(no_pose.find("1 0 0 5"), 7, "nan 0 0 5"));
  spill(folder / "images/0.jpg", "no image");
  fs::create_directories(folder / "images");
  for (const char* name : {"images/2.png", "images/3.png"})
    write_image(folder / name, Image<Rgb8>(8, 6).view());
  const Scene scene = read_mvsnet_model(folder.path(), folder / "images");
  ASSERT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.views[0].name, "2.png");
  EXPECT_EQ(scene.cameras.at(0).width, 8);
  EXPECT_EQ(scene.cameras.at(0).height, 6);
  ASSERT_EQ(scene.unusable.size(), 3u);
  EXPECT_EQ(scene.unusable[0].name, "0.jpg");
  EXPECT_THAT(scene.unusable[0].reason, StartsWith((folder / "images/0.jpg").string() + ": "));
  EXPECT_EQ(scene.unusable[1].name, "1.jpg");
  EXPECT_THAT(scene.unusable[1].reason, HasSubstr("images/1.jpg: there is no such photo"));
  EXPECT_THAT(scene.unusable[2].reason,
              HasSubstr("3_cam.txt:2: an element of the matrix \"extrinsic\" is \"nan\""));
  fs::remove(folder / "images/2.png");
  const std::string none =
      message_of<InputError>([&] { read_mvsnet_model(folder.path(), folder / "images"); });
  EXPECT_THAT(none, HasSubstr("none of its photos can be used"));
}

TEST(MvsnetModel, RefusesWithFileLineAndValue) {
  EXPECT_THAT(camera_refusal("extrinsic", "# nothing"),
              StartsWith("0_cam.txt:2: the line is \"1 0 0 5\"; it has to begin with \"extrinsic\""));
  EXPECT_THAT(camera_refusal("extrinsic", "extrinsics2"),
              StartsWith("0_cam.txt:1: the line is \"extrinsics2\"; it has to begin with"));
  EXPECT_THAT(camera_refusal("extrinsic", "extrinsic opengl(x Right, y Up, z Backward) world2camera"),
              HasSubstr("is of other axes"));
  EXPECT_THAT(camera_refusal("intrinsic\n20", "20"), StartsWith("0_cam.txt:7: the line is \"20 0 3.75\""));
  EXPECT_THAT(camera_refusal("1 0 0 5", "nan 0 0 5"),
              StartsWith("0_cam.txt:2: an element of the matrix \"extrinsic\" is \"nan\""));
  EXPECT_THAT(camera_refusal("1 0 0 5", "1 0 0"), StartsWith("0_cam.txt:2: the line ends where"));
  EXPECT_THAT(camera_refusal("1 0 0 5", "1 0 0 5 6"),
              StartsWith("0_cam.txt:2: \"6\" follows a row of 4 numbers"));
  EXPECT_THAT(
      camera_refusal("1 0 0 5", "2 0 0 5"),
      StartsWith(
          "0_cam.txt:5: the upper left 3x3 matrix R is no rotation: R R^T differs from the identity by 3;"));
  EXPECT_THAT(camera_refusal("1 0 0 5", "-1 0 0 5"),
              StartsWith("0_cam.txt:5: the upper left 3x3 matrix is a mirror"));
  EXPECT_THAT(camera_refusal("0.0 1.0", "1 1"),
              StartsWith("0_cam.txt:5: the last row of the matrix is 0 0 1 1"));
  EXPECT_THAT(camera_refusal("0.0 1.0", "0 0"),
              StartsWith("0_cam.txt:5: the last row of the matrix is 0 0 0 0"));
  EXPECT_THAT(camera_refusal("20 0", "0 0"),
              StartsWith("0_cam.txt:10: the matrix \"intrinsic\" ends here and begins with 0 0"));
  EXPECT_THAT(camera_refusal("20 0", "20 0.5"),
              HasSubstr("begins with 20 0.5; it has to be [fx 0 cx; 0 fy cy; 0 0 1]"));
  EXPECT_THAT(camera_refusal("0 25", "0 -25"), StartsWith("0_cam.txt:10: "));
  EXPECT_THAT(camera_refusal("0 0 1\n\n425", "0 0 2\n\n425"), StartsWith("0_cam.txt:10: "));
  EXPECT_THAT(message_of<InputError>([] { parse_camera(""); }),
              HasSubstr("the file ends where \"extrinsic\" should stand"));
  EXPECT_THAT(message_of<InputError>([] { parse_camera(kWholeCamera.substr(0, 40)); }),
              HasSubstr("truncated"));
}

}  // namespace
}  // namespace recon
