#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/error_message.hpp"
#include "io/model/colmap_in_memory.hpp"
#include "io/model/colmap_model.hpp"

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

Scene parse_text(const std::string& cameras, const std::string& images, const std::string& points) {
  return parse_colmap_model(
      {{"cameras.txt", cameras}, {"images.txt", images}, ColmapFile{"points3D.txt", points}},
      ColmapFormat::kText);
}

TEST(ColmapText, ReadsWhatAHandWrote) {
  const Scene scene = parse_text(kCameras, kImages, kPoints);
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
  const Mat3d r = parse_text(kCameras, kImages, kPoints).views[1].cam_from_world.rotation;
  const double expected[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(r.m[i], expected[i]) << i;
}

TEST(ColmapText, TurnsTheRightWay) {
  // 90 degrees about x map +y to +z.
  const Scene scene = parse_text("1 PINHOLE 4 4 5 5 2 2\n", "1 1e-30 1e-30 0 0 0 0 0 1 a.png\n", "");
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
  Scene scene = parse_text(kCameras, kImages, kPoints);
  scene.views[0].name = " a.png";
  EXPECT_THAT(message_of<InputError>([&] { format_colmap_model(scene, ColmapFormat::kText); }),
              HasSubstr("blank"));
}

TEST(ColmapText, LeavesOutTrackElementsOfAbsentImagesAndSaysSo) {
  const Scene scene = parse_text("1 PINHOLE 4 4 5 5 2 2\n", "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n",
                                 "5 0 0 0 0 0 0 0 3 7 1 0\n6 0 0 0 0 0 0 0 2 0 3 1\n");
  ASSERT_EQ(scene.points.size(), 2u);
  ASSERT_EQ(scene.points[0].track.size(), 1u);
  EXPECT_EQ(scene.points[0].track[0].view, 0);
  EXPECT_TRUE(scene.points[1].track.empty());
  ASSERT_EQ(scene.warnings.size(), 1u);
  EXPECT_THAT(scene.warnings[0], testing::StartsWith("points3D.txt:1: point 5 is seen by image 3, which"));
  EXPECT_THAT(scene.warnings[0], HasSubstr("3 such elements are ignored"));
}

TEST(ColmapText, IgnoresObservationsOfAbsentPointsAndSaysSo) {
  const Scene scene =
      parse_text("1 PINHOLE 4 4 5 5 2 2\n",
                 "2 1 0 0 0 0 0 0 1 b.png\n1 1 8 2 2 5 3 3 9 1 2 -1\n1 1 0 0 0 0 0 0 1 a.png\n1 1 9\n",
                 "5 0 0 0 0 0 0 0 2 1\n");
  ASSERT_EQ(scene.points.size(), 1u);
  ASSERT_EQ(scene.views.size(), 2u);
  EXPECT_EQ(scene.views[0].observations[0].point_id, kNoPoint);
  EXPECT_EQ(scene.views[1].observations[0].point_id, kNoPoint);
  EXPECT_EQ(scene.views[1].observations[1].point_id, 5u);
  EXPECT_THAT(
      scene.warnings,
      testing::ElementsAre("images.txt: image 2 (\"b.png\") observes point 8, which the points3D file does "
                           "not have; 3 such observations are ignored; their points may have been removed "
                           "from the model"));
}

TEST(ColmapText, LeavesOutTrackElementsOfAbsentObservationsAndSaysSo) {
  const Scene scene = parse_text("1 PINHOLE 4 4 5 5 2 2\n", "1 1 0 0 0 0 0 0 1 a.png\n1 1 5 2 2 -1\n",
                                 "5 0 0 0 0 0 0 0 1 1 1 0 1 2\n");
  ASSERT_EQ(scene.points.size(), 1u);
  ASSERT_EQ(scene.points[0].track.size(), 1u);
  EXPECT_EQ(scene.points[0].track[0].observation, 0u);
  EXPECT_THAT(
      scene.warnings,
      testing::ElementsAre("points3D.txt:1: point 5 is said to be observation 1 of image 1, which does not "
                           "know it; 2 such elements are ignored"));
}

TEST(ColmapText, LeavesOutViewsWithoutAPose) {
  const std::pair<const char*, const char*> poses[] = {
      {"0 0 0 0 1 2 3", "has the rotation 0 0 0 0, which is no quaternion"},
      {"nan 0 0 0 1 2 3", "has the rotation nan 0 0 0, which"},
      {"-nan -nan -nan -nan 1 2 3", "which is no quaternion"},
      {"1 0 inf 0 1 2 3", "has the rotation 1 0 inf 0"},
      {"1 0 0 0 1 -inf 3", "has the translation 1 -inf 3; it has to be three finite numbers"},
      {"1 0 0 0 1 2 1e999", "has the translation 1 2 inf;"}};
  for (const auto& [pose, reason] : poses) {
    const Scene scene =
        parse_text("1 PINHOLE 4 4 5 5 2 2\n",
                   std::string("2 ") + pose + " 1 b.png\n1 1 5\n1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n",
                   "5 0 0 0 0 0 0 0 1 0 2 0\n");
    ASSERT_EQ(scene.views.size(), 1u) << pose;
    EXPECT_EQ(scene.views[0].name, "a.png");
    ASSERT_EQ(scene.unusable.size(), 1u);
    EXPECT_EQ(scene.unusable[0].name, "b.png");
    EXPECT_THAT(scene.unusable[0].reason, testing::StartsWith("images.txt:1: image 2 has the "));
    EXPECT_THAT(scene.unusable[0].reason, HasSubstr(reason));
    ASSERT_EQ(scene.points[0].track.size(), 1u);
    EXPECT_EQ(scene.points[0].track[0].view, 0);
    EXPECT_THAT(scene.warnings, testing::IsEmpty());
  }
}

TEST(ColmapText, LeavesOutTheViewsOfACameraWithAParameterThatIsNotFinite) {
  for (const char* params : {"nan 5 2 2", "5 5 -inf 2", "5 5 2 1e999", "-nan 0 2 2"}) {
    const Scene scene = parse_text(
        std::string("1 PINHOLE 4 4 ") + params + "\n2 PINHOLE 4 4 6 6 2 2\n",
        "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n2 1 0 0 0 0 0 0 2 b.png\n1 1 5\n3 1 0 0 0 0 0 0 1 c.png\n\n",
        "5 0 0 0 0 0 0 0 1 0 2 0\n");
    ASSERT_EQ(scene.views.size(), 1u) << params;
    EXPECT_EQ(scene.views[0].name, "b.png");
    EXPECT_EQ(scene.cameras[scene.views[0].camera].params[0], 6);
    ASSERT_EQ(scene.unusable.size(), 2u);
    EXPECT_EQ(scene.unusable[0].name, "a.png");
    EXPECT_EQ(scene.unusable[1].name, "c.png");
    EXPECT_THAT(scene.unusable[0].reason, testing::StartsWith("cameras.txt:1: camera 1 has the parameter "));
    EXPECT_THAT(scene.unusable[0].reason, HasSubstr("it has to be a finite number"));
    EXPECT_THAT(scene.points[0].track, testing::SizeIs(1));
    EXPECT_THAT(scene.warnings, testing::IsEmpty());
  }
}

TEST(ColmapText, LeavesOutWhatIsNotFiniteAndSaysSoOnce) {
  const Scene scene =
      parse_text("1 PINHOLE 4 4 5 5 2 2\n", "1 1 0 0 0 0 0 0 1 a.png\n1 1 5 nan 2 6 3 3 7 -inf 4 -1\n",
                 "5 0 nan 0 0 0 0 0 1 0\n6 0 0 0 0 0 0 0 1 1\n7 0 0 0 0 0 0 -nan 1 2\n");
  ASSERT_EQ(scene.points.size(), 2u);
  EXPECT_TRUE(scene.points[0].track.empty());
  EXPECT_EQ(scene.points[1].error, -1) << "COLMAP's mark of an unknown one";
  ASSERT_EQ(scene.points[1].track.size(), 1u);
  const auto& observations = scene.views[0].observations;
  ASSERT_EQ(observations.size(), 4u) << "tracks count them";
  EXPECT_EQ(observations[0].point_id, kNoPoint);
  EXPECT_EQ(observations[1].point_id, kNoPoint);
  EXPECT_EQ(observations[2].point_id, 7u);
  for (const Observation& observation : observations) EXPECT_TRUE(std::isfinite(observation.pixel.x));
  EXPECT_THAT(scene.warnings,
              testing::ElementsAre(
                  "images.txt:1: observation 1 of image 1 is at nan 2; values that are not finite are "
                  "left out: 1 points, 2 observations, 1 errors"));
}

TEST(ColmapText, SkipsAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  const Scene scene = parse_text(mark + "1 PINHOLE 4 4 5 5 2 2\n", mark + "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n",
                                 mark + "5 0 0 0 0 0 0 0 1 0\n");
  EXPECT_EQ(scene.views.size(), 1u);
  EXPECT_EQ(scene.points.size(), 1u);
}

struct TextFault {
  const char* name;
  const char *cameras, *images, *points;
  const char* place;
  const char* message;
};

class ColmapTextFault : public testing::TestWithParam<TextFault> {};

TEST_P(ColmapTextFault, IsRefusedWithPlaceAndReason) {
  const TextFault& fault = GetParam();
  const std::string message =
      message_of<InputError>([&] { parse_text(fault.cameras, fault.images, fault.points); });
  EXPECT_THAT(message, testing::StartsWith(fault.place));
  EXPECT_THAT(message, HasSubstr(fault.message));
}

constexpr const char* kOneCamera = "1 PINHOLE 4 4 5 5 2 2\n";
constexpr const char* kView = "1 1 0 0 0 0 0 0 1 a.png\n1 1 5\n";

INSTANTIATE_TEST_SUITE_P(
    Cameras, ColmapTextFault,
    testing::Values(
        TextFault{"Model", "#\n1 NIKON 4 4 5 5 2 2\n", "", "", "cameras.txt:2: ", "\"NIKON\""},
        TextFault{"Panorama", "1 EQUIRECTANGULAR 8 4 8 0\n", "", "",
                  "cameras.txt:1: ", "the width or height 0; it has to be positive"},
        TextFault{"PanoramaOfAnotherSize", "1 EQUIRECTANGULAR 8 4 4 2\n", "", "", "cameras.txt:1: ",
                  "a panorama of 4 x 2 pixels, and its size is 8x4; they have to be the same"},
        TextFault{"Count", "1 PINHOLE 4 4 5 5 2\n", "", "",
                  "cameras.txt:1: ", "3 parameters; the model PINHOLE has 4"},
        TextFault{"Word", "1 PINHOLE 4 4 5 5 2 2x\n", "", "", "cameras.txt:1: ", "\"2x\""},
        TextFault{"Focal", "1 PINHOLE 4 4 5 0 2 2\n", "", "", "cameras.txt:1: ", "focal length 0"},
        TextFault{"NegativeFocal", "1 RADIAL 4 4 -5 2 2 0 0\n", "", "", "cameras.txt:1: ", "focal length -5"},
        TextFault{"Size", "1 PINHOLE 0 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "0x4"},
        TextFault{"NegativeSize", "1 PINHOLE 4 -4 5 5 2 2\n", "", "", "cameras.txt:1: ", "4x-4"},
        TextFault{"AbsurdSize", "1 PINHOLE 1000000 1000000 5 5 2 2\n", "", "", "cameras.txt:1: ", "2^30"},
        TextFault{"HugeSize", "1 PINHOLE 99999999999 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "WIDTH"},
        TextFault{"Twice", "1 PINHOLE 4 4 5 5 2 2\n1 PINHOLE 4 4 5 5 2 2\n", "", "",
                  "cameras.txt:2: ", "twice"},
        TextFault{"Truncated", "1 PINHOLE 4\n", "", "", "cameras.txt:1: ", "HEIGHT"},
        TextFault{"NegativeId", "-1 PINHOLE 4 4 5 5 2 2\n", "", "", "cameras.txt:1: ", "CAMERA_ID"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Images, ColmapTextFault,
    testing::Values(
        TextFault{"Camera", kOneCamera, "1 1 0 0 0 0 0 0 2 a.png\n\n", "",
                  "images.txt:1: ", "refers to camera 2"},
        TextFault{"WordAsRotation", kOneCamera, "1 nanx 0 0 0 0 0 0 1 a.png\n\n", "",
                  "images.txt:1: ", "QW is \"nanx\""},
        TextFault{"NoName", kOneCamera, "1 1 0 0 0 0 0 0 1\n\n", "", "images.txt:1: ", "empty"},
        TextFault{"Parent", kOneCamera, "1 1 0 0 0 0 0 0 1 a/../../b.png\n\n", "",
                  "images.txt:1: ", "\"..\""},
        TextFault{"Absolute", kOneCamera, "1 1 0 0 0 0 0 0 1 /etc/passwd\n\n", "",
                  "images.txt:1: ", "absolute"},
        TextFault{"TwiceId", kOneCamera, "1 1 0 0 0 0 0 0 1 a.png\n\n1 1 0 0 0 0 0 0 1 b.png\n\n", "",
                  "images.txt:3: ", "image 1 is there twice"},
        TextFault{"TwiceName", kOneCamera, "1 1 0 0 0 0 0 0 1 a.png\n\n2 1 0 0 0 0 0 0 1 a.png\n\n", "",
                  "images.txt:3: ", "\"a.png\" is there twice"},
        TextFault{"SameFile", kOneCamera, "1 1 0 0 0 0 0 0 1 b/a.png\n\n2 1 0 0 0 0 0 0 1 ./b//./a.png\n\n",
                  "", "images.txt:3: ", "\"b/a.png\" is there twice"},
        TextFault{"NoEmptyLine", kOneCamera, "1 1 0 0 0 0 0 0 1 a.png\n2 1 0 0 0 0 0 0 1 b.png\n", "",
                  "images.txt:2: ", "empty second line"},
        TextFault{"HalfObservation", kOneCamera, "1 1 0 0 0 0 0 0 1 a.png\n1 1 -1 3\n", "",
                  "images.txt:2: ", "Y of an observation"},
        TextFault{"ObservationId", kOneCamera, "1 1 0 0 0 0 0 0 1 a.png\n1 1 -2\n", "",
                  "images.txt:2: ", "\"-2\""},
        TextFault{"NoSecondLines", kOneCamera,
                  "1 0.6 0.8 0 0 1 2 3 1 a.png\n2 0.6 0.8 0 0 1 2 3 1 b.png\n3 0.6 0.8 0 0 1 2 3 1 c.png\n",
                  "",
                  "images.txt:2: here stand the words of an image, where the observations of image 1 should",
                  "second line is missing"},
        TextFault{"NoSecondLineOfANameWithBlanks", kOneCamera,
                  "1 1 0 0 0 0 0 0 1 a.png\n\n2 1 0 0 0 0 0 0 1 b b.png\n3 1 0 0 0 0 0 0 1 the last.png\n",
                  "", "images.txt:4: ", "the observations of image 2 should"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Points, ColmapTextFault,
    testing::Values(
        TextFault{"OthersObservation", kOneCamera, kView, "6 0 0 0 0 0 0 0 1 0\n",
                  "points3D.txt:1: ", "observation 0 of image 1, which is of point 5"},
        TextFault{"Twice", kOneCamera, kView, "5 0 0 0 0 0 0 0\n5 0 0 0 0 0 0 0\n",
                  "points3D.txt:2: ", "twice"},
        TextFault{"Colour", kOneCamera, kView, "5 0 0 0 0 256 0 0\n", "points3D.txt:1: ", "G is \"256\""},
        TextFault{"Position", kOneCamera, kView, "5 0 1e9x 0 0 0 0 0\n", "points3D.txt:1: ", "Y is \"1e9x\""},
        TextFault{"HalfTrack", kOneCamera, kView, "5 0 0 0 0 0 0 0 1\n", "points3D.txt:1: ", "POINT2D_IDX"},
        TextFault{"NoPointId", kOneCamera, kView, "18446744073709551615 0 0 0 0 0 0 0\n",
                  "points3D.txt:1: ", "no point"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace recon
