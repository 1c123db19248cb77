#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error_message.hpp"
#include "io/colmap_in_memory.hpp"
#include "io/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

constexpr const char* kCameras =
    "# Camera list\n"
    "\n"
    "  7 PINHOLE 640 480 500 +501.5 320 240  \r\n"
    "3\tSIMPLE_RADIAL 320 200 250.5 160 100 -0.1\n";
constexpr const char* kImages =
    "# Image list\r\n"
    "2 0 0 0 2 1 2 3 7 b/with blank.jpg\r\n"
    "\r\n"
    "# a comment between images\n"
    "9 1 0 0 0 -1 0 1e-3 3 a.png\n"
    "10.5 20.25 77 11 12 -1 1 2 77";
constexpr const char* kPoints = "77 0.5 -1 2e1 1 2 255 0.25 9 0 9 2\n";

Scene parse(const std::string& cameras, const std::string& images, const std::string& points) {
  return parse_colmap_model(
      {{"cameras.txt", cameras}, {"images.txt", images}, ColmapFile{"points3D.txt", points}},
      ColmapFormat::kText);
}

TEST(ColmapText, ReadsWhatAHandWrote) {
  const Scene scene = parse(kCameras, kImages, kPoints);
  ASSERT_EQ(scene.cameras.size(), 2u);
  EXPECT_EQ(scene.camera_ids, (std::vector<std::uint32_t>{7, 3}));
  EXPECT_EQ(scene.cameras[0].model, CameraModel::kPinhole);
  EXPECT_EQ(scene.cameras[0].params, (std::vector<double>{500, 501.5, 320, 240}));
  EXPECT_EQ(scene.cameras[1].width, 320);
  ASSERT_EQ(scene.views.size(), 2u);
  EXPECT_EQ(scene.views[0].name, "a.png");
  EXPECT_EQ(scene.views[0].camera, 1);
  EXPECT_EQ(scene.views[0].cam_from_world.translation.z, 1e-3);
  ASSERT_EQ(scene.views[0].observations.size(), 3u);
  EXPECT_EQ(scene.views[0].observations[0].pixel.y, 20.25);
  EXPECT_EQ(scene.views[0].observations[1].point_id, kNoPoint);
  EXPECT_EQ(scene.views[1].name, "b/with blank.jpg");
  EXPECT_TRUE(scene.views[1].observations.empty());
  ASSERT_EQ(scene.points.size(), 1u);
  EXPECT_EQ(scene.points[0].colour, (Rgb8{1, 2, 255}));
  EXPECT_EQ(scene.points[0].track[1].view, 0);
  EXPECT_EQ(scene.points[0].track[1].observation, 2u);
}

TEST(ColmapText, NormalisesQuaternions) {
  // (w, x, y, z) = (0, 0, 0, 2): a rotation by 180 degrees about z.
  const Mat3d r = parse(kCameras, kImages, kPoints).views[1].cam_from_world.rotation;
  const double expected[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(r.m[i], expected[i]) << i;
}

TEST(ColmapText, TurnsTheRightWay) {
  // 90 degrees about x map +y to +z.
  const Scene scene = parse("1 PINHOLE 4 4 5 5 2 2\n", "1 1e-30 1e-30 0 0 0 0 0 1 a.png\n", "");
  const Vec3d v = scene.views[0].cam_from_world.rotation * Vec3d{0, 1, 0};
  EXPECT_NEAR(v.y, 0, 1e-15);
  EXPECT_NEAR(v.z, 1, 1e-15);
}

TEST(ColmapText, DropsPointIdsWhereThereAreNoPoints) {
  const Scene scene = parse_colmap_model({{"cameras.txt", kCameras}, {"images.txt", kImages}, std::nullopt},
                                         ColmapFormat::kText);
  EXPECT_TRUE(scene.points.empty());
  EXPECT_EQ(scene.views[0].observations[0].point_id, kNoPoint);
}

TEST(ColmapText, RefusesToWriteANameThatTheFormatCannotHold) {
  Scene scene = parse(kCameras, kImages, kPoints);
  scene.views[0].name = " a.png";
  EXPECT_THAT(message_of<InputError>([&] { format_colmap_model(scene, ColmapFormat::kText); }),
              HasSubstr("blank"));
}

TEST(ColmapText, LeavesOutTrackElementsOfAbsentImagesAndSaysSo) {
  const Scene scene = parse("1 PINHOLE 4 4 5 5 2 2\n", "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n",
                            "5 0 0 0 0 0 0 0 3 7 1 0\n6 0 0 0 0 0 0 0 2 0 3 1\n");
  ASSERT_EQ(scene.points.size(), 2u);
  ASSERT_EQ(scene.points[0].track.size(), 1u);
  EXPECT_EQ(scene.points[0].track[0].view, 0);
  EXPECT_TRUE(scene.points[1].track.empty());
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_THAT(scene.warnings[0], testing::StartsWith("points3D.txt:1: point 5 is seen by image 3, which"));
  EXPECT_THAT(scene.warnings[0], HasSubstr("3 such elements are ignored"));
}

TEST(ColmapText, SkipsAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  const Scene scene = parse(mark + "1 PINHOLE 4 4 5 5 2 2\n", mark + "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n",
                            mark + "5 0 0 0 0 0 0 0 1 0\n");
  EXPECT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.points.size(), 1u);
}

struct Fault {
  const char* name;
  const char *cameras, *images, *points;
  const char* place;
  const char* message;
};

class ColmapTextFault : public testing::TestWithParam<Fault> {};

TEST_P(ColmapTextFault, IsRefusedWithPlaceAndReason) {
  const Fault& fault = GetParam();
  const std::string message =
      message_of<InputError>([&] { parse(fault.cameras, fault.images, fault.points); });
  EXPECT_THAT(message, testing::StartsWith(fault.place));
  EXPECT_THAT(message, HasSubstr(fault.message));
}

constexpr const char* kOne = "1 PINHOLE 4 4 5 5 2 2\n";
constexpr const char* kView = "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n";

INSTANTIATE_TEST_SUITE_P(
    Cameras, ColmapTextFault,
    testing::Values(
        Fault{"Model", "#\n1 NIKON 4 4 5 5 2 2\n", "", "", "cameras.txt:2: ", "\"NIKON\""},
        Fault{"Count", "1 PINHOLE 4 4 5 5 2\n", "", "",
              "cameras.txt:1: ", "3 parameters; the model PINHOLE has 4"},
        Fault{"Nan", "1 PINHOLE 4 4 5 5 nan 2\n", "", "", "cameras.txt:1: ", "\"nan\""},
        Fault{"Infinite", "1 PINHOLE 4 4 inf 5 2 2\n", "", "", "cameras.txt:1: ", "\"inf\""},
        Fault{"Word", "1 PINHOLE 4 4 5 5 2 2x\n", "", "", "cameras.txt:1: ", "\"2x\""},
        Fault{"Focal", "1 PINHOLE 4 4 5 0 2 2\n", "", "", "cameras.txt:1: ", "focal length 0"},
        Fault{"NegativeFocal", "1 RADIAL 4 4 -5 2 2 0 0\n", "", "", "cameras.txt:1: ", "focal length -5"},
        Fault{"Size", "1 PINHOLE 0 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "0x4"},
        Fault{"NegativeSize", "1 PINHOLE 4 -4 5 5 2 2\n", "", "", "cameras.txt:1: ", "4x-4"},
        Fault{"AbsurdSize", "1 PINHOLE 1000000 1000000 5 5 2 2\n", "", "", "cameras.txt:1: ", "2^30"},
        Fault{"HugeSize", "1 PINHOLE 99999999999 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "WIDTH"},
        Fault{"Twice", "1 PINHOLE 4 4 5 5 2 2\n1 PINHOLE 4 4 5 5 2 2\n", "", "", "cameras.txt:2: ", "twice"},
        Fault{"Truncated", "1 PINHOLE 4\n", "", "", "cameras.txt:1: ", "HEIGHT"},
        Fault{"NegativeId", "-1 PINHOLE 4 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "CAMERA_ID"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Images, ColmapTextFault,
    testing::Values(
        Fault{"Camera", kOne, "1 1 0 0 0 0 0 0 2 a.png\n\n", "", "images.txt:1: ", "refers to camera 2"},
        Fault{"ZeroRotation", kOne, "1 0 0 0 0 0 0 0 1 a.png\n\n", "", "images.txt:1: ", "no quaternion"},
        Fault{"NanRotation", kOne, "1 nan 0 0 0 0 0 0 1 a.png\n\n", "", "images.txt:1: ", "QW is \"nan\""},
        Fault{"NanTranslation", kOne, "1 1 0 0 0 0 0 -inf 1 a.png\n\n", "",
              "images.txt:1: ", "TZ is \"-inf\""},
        Fault{"NoName", kOne, "1 1 0 0 0 0 0 0 1\n\n", "", "images.txt:1: ", "empty"},
        Fault{"Parent", kOne, "1 1 0 0 0 0 0 0 1 a/../../b.png\n\n", "", "images.txt:1: ", "\"..\""},
        Fault{"Absolute", kOne, "1 1 0 0 0 0 0 0 1 /etc/passwd\n\n", "", "images.txt:1: ", "absolute"},
        Fault{"TwiceId", kOne, "1 1 0 0 0 0 0 0 1 a.png\n\n1 1 0 0 0 0 0 0 1 b.png\n\n", "",
              "images.txt:3: ", "image 1 is there twice"},
        Fault{"TwiceName", kOne, "1 1 0 0 0 0 0 0 1 a.png\n\n2 1 0 0 0 0 0 0 1 a.png\n\n", "",
              "images.txt:3: ", "\"a.png\" is there twice"},
        Fault{"SameFile", kOne, "1 1 0 0 0 0 0 0 1 b/a.png\n\n2 1 0 0 0 0 0 0 1 ./b//./a.png\n\n", "",
              "images.txt:3: ", "\"b/a.png\" is there twice"},
        Fault{"NoEmptyLine", kOne, "1 1 0 0 0 0 0 0 1 a.png\n2 1 0 0 0 0 0 0 1 b.png\n", "",
              "images.txt:2: ", "empty second line"},
        Fault{"HalfObservation", kOne, "1 1 0 0 0 0 0 0 1 a.png\n1 1 -1 3\n", "",
              "images.txt:2: ", "Y of an observation"},
        Fault{"ObservationId", kOne, "1 1 0 0 0 0 0 0 1 a.png\n1 1 -2\n", "", "images.txt:2: ", "\"-2\""},
        Fault{"AbsentPoint", kOne, kView, "6 0 0 0 0 0 0 0\n", "images.txt: ", "observes point 5"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Points, ColmapTextFault,
    testing::Values(
        Fault{"AbsentObservation", kOne, kView, "5 0 0 0 0 0 0 0 1 1\n",
              "points3D.txt:1: ", "observation 1 of image 1"},
        Fault{"OthersObservation", kOne, kView, "6 0 0 0 0 0 0 0 1 0\n",
              "points3D.txt:1: ", "observation 0 of image 1"},
        Fault{"Twice", kOne, kView, "5 0 0 0 0 0 0 0\n5 0 0 0 0 0 0 0\n", "points3D.txt:2: ", "twice"},
        Fault{"Colour", kOne, kView, "5 0 0 0 0 256 0 0\n", "points3D.txt:1: ", "G is \"256\""},
        Fault{"Position", kOne, kView, "5 0 1e999 0 0 0 0 0\n", "points3D.txt:1: ", "Y is \"1e999\""},
        Fault{"HalfTrack", kOne, kView, "5 0 0 0 0 0 0 0 1\n", "points3D.txt:1: ", "POINT2D_IDX"},
        Fault{"NoPointId", kOne, kView, "18446744073709551615 0 0 0 0 0 0 0\n",
              "points3D.txt:1: ", "no point"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace recon
