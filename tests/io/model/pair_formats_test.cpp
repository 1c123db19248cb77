// Calibrations of pairs as OpenCV, KITTI and RealSense have them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/model/pair_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// What cv::FileStorage of OpenCV 4.6 writes of cv::stereoRectify, without R, T, R1 and R2.
const std::string kOpencv = R"(%YAML:1.0
---
P1: !!opencv-matrix
   rows: 3
   cols: 4
   dt: d
   data: [ 4.9659390400405863e+02, 0., 3.2502217483520508e+02, 0., 0.,
       4.9659390400405863e+02, 2.4010950279235840e+02, 0., 0., 0., 1.,
       0. ]
P2: !!opencv-matrix
   rows: 3
   cols: 4
   dt: d
   data: [ 4.9659390400405863e+02, 0., 3.2502217483520508e+02,
       -5.9601613288911537e+01, 0., 4.9659390400405863e+02,
       2.4010950279235840e+02, 0., 0., 0., 1., 0. ]
imageSize: !!opencv-matrix
   rows: 2
   cols: 1
   dt: i
   data: [ 640, 480 ]
)";

/// Without CALIB_ZERO_DISPARITY.
const std::string kOpencvQ = R"(%YAML:1.0
---
Q: !!opencv-matrix
   rows: 4
   cols: 4
   dt: d
   data: [ 1., 0., 0., -3.1761534881591797e+02, 0., 1., 0.,
       -2.4010950279235840e+02, 0., 0., 0., 501., 0., 0.,
       8.3318869507253162e+00, 1.2342567411278200e+02 ]
)";

const std::string kOpencvJson = R"({
    "P1": {"type_id": "opencv-matrix", "rows": 3, "cols": 4, "dt": "d",
           "data": [ 4.9659390400405863e+02, 0.0, 3.2502217483520508e+02, 0.0, 0.0, 4.9659390400405863e+02,
                     2.4010950279235840e+02, 0.0, 0.0, 0.0, 1.0, 0.0 ]},
    "P2": {"type_id": "opencv-matrix", "rows": 3, "cols": 4, "dt": "d",
           "data": [ 4.9659390400405863e+02, 0.0, 3.2502217483520508e+02, -5.9601613288911537e+01, 0.0,
                     4.9659390400405863e+02, 2.4010950279235840e+02, 0.0, 0.0, 0.0, 1.0, 0.0 ]},
    "image_width": 640, "image_height": 480})";

/// Of the drive of 26 September 2011.
const std::string kKittiRaw = R"(calib_time: 09-Jan-2012 13:57:47
corner_dist: 9.950000e-02
S_00: 1.392000e+03 5.120000e+02
K_00: 9.842439e+02 0.000000e+00 6.900000e+02 0.000000e+00 9.808141e+02 2.331966e+02 0.000000e+00 0.000000e+00 1.000000e+00
S_rect_00: 1.242000e+03 3.750000e+02
P_rect_00: 7.215377e+02 0.000000e+00 6.095593e+02 0.000000e+00 0.000000e+00 7.215377e+02 1.728540e+02 0.000000e+00 0.000000e+00 0.000000e+00 1.000000e+00 0.000000e+00
P_rect_01: 7.215377e+02 0.000000e+00 6.095593e+02 -3.875744e+02 0.000000e+00 7.215377e+02 1.728540e+02 0.000000e+00 0.000000e+00 0.000000e+00 1.000000e+00 0.000000e+00
S_rect_02: 1.242000e+03 3.750000e+02
P_rect_02: 7.215377e+02 0.000000e+00 6.095593e+02 4.485728e+01 0.000000e+00 7.215377e+02 1.728540e+02 2.163791e-01 0.000000e+00 0.000000e+00 1.000000e+00 2.745884e-03
P_rect_03: 7.215377e+02 0.000000e+00 6.095593e+02 -3.395242e+02 0.000000e+00 7.215377e+02 1.728540e+02 2.199936e+00 0.000000e+00 0.000000e+00 1.000000e+00 2.729905e-03
)";

const std::string kRealsense =
    R"({"device": {"name": "Intel RealSense D435", "serial": "1"}, "depth_scale": 0.001,
  "streams": {
    "color": {"width": 1920, "height": 1080, "fx": 1377.6, "fy": 1375.7, "ppx": 936.5, "ppy": 537.5, "coeffs": [0.1, 0, 0, 0, 0]},
    "infrared1": {"width": 848, "height": 480, "fx": 425.0, "fy": 425.0, "ppx": 428.5, "ppy": 241.5,
                  "model": "brown_conrady", "coeffs": [0.0, 0.0, 0.0, 0.0, 0.0]}},
  "baseline": 0.0502})";

PairCalibration parse(const std::string& text, std::optional<KittiCameras> cameras = {}) {
  return parse_pair_calibration(text, "calib", cameras);
}

std::string refusal(const std::string& text) {
  return message_of<InputError>([&] { parse(text); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// By cv2.reprojectImageTo3D with Q of the same files.
TEST(OpencvCalibration, GivesTheDepthsOfOpencv) {
  for (const std::string& text : {kOpencv, kOpencvJson}) {
    const PairCalibration calibration = parse(text);
    EXPECT_STREQ(calibration.format, "OpenCV");
    EXPECT_EQ(calibration.unit, LengthUnit::kUnstated) << "it is that of the pattern";
    const StereoCamera& camera = calibration.camera;
    EXPECT_NEAR(camera.depth(1), 59.60161209, 1e-5);
    EXPECT_NEAR(camera.depth(10), 5.960161209, 1e-6);
    EXPECT_NEAR(camera.depth(63.5), 0.938608110, 1e-7);
    EXPECT_EQ(camera.left.width, 640);
    EXPECT_EQ(camera.left.height, 480);
    // The pixel 1, 0 at the disparity 10.
    const Vec3d point = camera.depth(10) * camera.left.ray(pixel_centre(1, 0));
    EXPECT_NEAR(point.x, -3.88894105, 1e-5);
    EXPECT_NEAR(point.y, -2.88181424, 1e-5);
  }
  const StereoCamera camera = parse(kOpencvQ).camera;
  EXPECT_NEAR(camera.depth(1), 3.802438259, 1e-6);
  EXPECT_NEAR(camera.depth(63.5), 0.76781553, 1e-7);
  EXPECT_NEAR(camera.offset, 332.42900085 - 317.61534882, 1e-6);
  EXPECT_EQ(camera.left.width, 0);
}

TEST(OpencvCalibration, TakesSizesAsPeopleWriteThem) {
  for (const char* size : {"image_width: 640\nimage_height: 480\n", "imageSize: [ 640, 480 ]\n",
                           "image_size: [640,480]\r\n", "imageSize:\n   [ 640,\n   480 ]\n"}) {
    const StereoCamera camera = parse(kOpencvQ + size).camera;
    EXPECT_EQ(camera.left.width, 640) << size;
    EXPECT_EQ(camera.left.height, 480) << size;
  }
}

TEST(OpencvCalibration, RefusesWhatIsNoRectifiedPair) {
  EXPECT_THAT(refusal("%YAML:1.0\n---\nM1: !!opencv-matrix\n   data: [ 1. ]\n"),
              HasSubstr("calib: there is neither P1 and P2 nor Q"));
  EXPECT_THAT(refusal(replaced(kOpencv, "-5.96", "5.96")),
              HasSubstr("the second camera is left of the first"));
  EXPECT_THAT(refusal(replaced(kOpencv, "-5.9601613288911537e+01", "0.")),
              HasSubstr("only pairs side by side"));
  EXPECT_THAT(refusal(replaced(kOpencv, "-5.9601613288911537e+01", ".Nan")),
              HasSubstr("calib:10: P2 is \".Nan\""));
  EXPECT_THAT(refusal(replaced(kOpencv, "0., 0., 1., 0. ]", "0., 0., 1. ]")), HasSubstr("P2 has 11 numbers"));
  EXPECT_THAT(refusal(replaced(kOpencv, "0., 0., 1., 0. ]", "0., 0.,")),
              HasSubstr("calib:10: the list of P2 has no end"));
  EXPECT_THAT(
      refusal(replaced(kOpencv, "2.4010950279235840e+02, 0., 0., 0., 1., 0.", "250, 0., 0., 0., 1., 0.")),
      HasSubstr("P1 and P2 differ in more than cx"));
  EXPECT_THAT(refusal(replaced(kOpencv, "[ 640, 480 ]", "[ 640, -480 ]")),
              HasSubstr("the size of the images is 640 x -480"));
  EXPECT_THAT(refusal(replaced(kOpencvQ, "501.", "0.")), HasSubstr("Q is not the matrix"));
  EXPECT_THAT(refusal(replaced(kOpencvQ, "8.33", "-8.33")), HasSubstr("other order"));
  EXPECT_THAT(refusal(replaced(kOpencvJson, "\"P2\"", "\"P3\"")), HasSubstr("neither P1 and P2 nor Q"));
}

TEST(KittiCalibration, HasTheCamerasOfTheFoldersOfTheImages) {
  const PairCalibration colour = parse(kKittiRaw, KittiCameras{2, 3}),
                        grey = parse(kKittiRaw, KittiCameras{0, 1});
  // 0.54 m by its paper; these are what its development kit computes.
  EXPECT_NEAR(colour.camera.baseline, (4.485728e+01 + 3.395242e+02) / 7.215377e+02, 1e-4);
  EXPECT_NEAR(grey.camera.baseline, 3.875744e+02 / 7.215377e+02, 1e-9);
  EXPECT_EQ(colour.camera.offset, 0);
  EXPECT_DOUBLE_EQ(colour.camera.left.cx, 610.0593);
  EXPECT_EQ(colour.camera.left.width, 1242);
  EXPECT_EQ(colour.unit, LengthUnit::kMetre);
  EXPECT_EQ(colour.note, "");
  const PairCalibration unnamed = parse(kKittiRaw);
  EXPECT_EQ(unnamed.camera.baseline, colour.camera.baseline);
  EXPECT_THAT(unnamed.note, HasSubstr("cameras 2 and 3 of KITTI"));
}

TEST(KittiCalibration, OfOdometryAndObjectsIsRead) {
  std::string text;
  for (const char* line : {"P_rect_00", "P_rect_01"}) {
    const std::size_t at = kKittiRaw.find(line);
    text += replaced(kKittiRaw.substr(at, kKittiRaw.find('\n', at) - at), "_rect_0", "") + "\r\n";
  }
  const PairCalibration grey = parse(text + "Tr: 1 0 0 0 0 1 0 0 0 0 1 0\n");
  EXPECT_NEAR(grey.camera.baseline, 0.53715, 1e-5);
  EXPECT_THAT(grey.note, HasSubstr("cameras 0 and 1 of KITTI"));
  EXPECT_EQ(grey.camera.left.width, 0);
  EXPECT_THAT(message_of<InputError>([&] {
                parse(text, KittiCameras{2, 3});
              }),
              HasSubstr("calib: there is neither a line P2: nor P_rect_02:"));
  EXPECT_THAT(refusal(replaced(text, "7.215377e+02", "x")), HasSubstr("calib:1: P0 is \"x\""));
}

TEST(KittiCalibration, CamerasAreThoseOfFolders) {
  using Path = std::filesystem::path;
  EXPECT_EQ(kitti_cameras(Path("t/image_2/000000_10.png"), Path("t/image_3/000000_10.png")),
            (KittiCameras{2, 3}));
  EXPECT_EQ(kitti_cameras(Path("image_00/data/0.png"), Path("image_01/data/0.png")), (KittiCameras{0, 1}));
  EXPECT_FALSE(kitti_cameras(Path("image_2/a.png"), Path("image_2/b.png")));
  EXPECT_FALSE(kitti_cameras(Path("im0.png"), Path("im1.png")));
}

TEST(RealsenseCalibration, HasTheLeftInfraredCamera) {
  const PairCalibration calibration = parse(kRealsense);
  const StereoCamera& camera = calibration.camera;
  EXPECT_STREQ(calibration.format, "RealSense");
  EXPECT_EQ(calibration.unit, LengthUnit::kMetre);
  EXPECT_EQ(camera.left.fx, 425);
  EXPECT_EQ(camera.left.cx, 429) << "librealsense counts from the centre of the first pixel";
  EXPECT_EQ(camera.left.width, 848);
  EXPECT_EQ(camera.baseline, 0.0502);
  EXPECT_EQ(camera.offset, 0);
  EXPECT_EQ(calibration.note, "");
}

/// RS2_OPTION_STEREO_BASELINE is in millimetres, rs2_extrinsics in metres.
TEST(RealsenseCalibration, HasTheBaselineInMetres) {
  const PairCalibration stated = parse(replaced(kRealsense, "0.0502", "50.2"));
  EXPECT_DOUBLE_EQ(stated.camera.baseline, 0.0502);
  EXPECT_THAT(stated.note, HasSubstr("50.2 is taken for millimetres"));
  EXPECT_DOUBLE_EQ(
      parse(replaced(kRealsense, "\"baseline\": 0.0502", "\"stereo_baseline_mm\": 50.2")).camera.baseline,
      0.0502);
  const std::string extrinsics =
      R"("extrinsics": {"color": {"translation": [0.0148, 0, 0]}, "infrared1_to_infrared2": {"rotation": [1,0,0,0,1,0,0,0,1], "translation": [-0.0501, 1e-6, 0]}})";
  EXPECT_DOUBLE_EQ(parse(replaced(kRealsense, "\"baseline\": 0.0502", extrinsics)).camera.baseline, 0.0501);
}

TEST(RealsenseCalibration, IsFoundAsPeopleWriteIt) {
  for (
      const char* text :
      {R"({"width": 640, "height": 480, "fx": 380, "fy": 380, "cx": 320, "cy": 240, "baseline": 0.05})",
       R"({"intrinsics": {"width": 640, "height": 480, "fx": 380, "fy": 380, "ppx": 320, "ppy": 240}, "baseline_m": 0.05})",
       R"({"left": {"intrinsics": {"width": 640, "height": 480, "fx": 380, "fy": 380, "ppx": 320, "ppy": 240}},
            "right": {"intrinsics": {"width": 640, "height": 480, "fx": 380, "fy": 380, "ppx": 320, "ppy": 240},
                      "extrinsics": {"translation": [-0.05, 0, 0]}}})",
       R"({"Infrared 1": {"width": 640, "height": 480, "focal-length": [380, 380], "principal-point": [320, 240],
            "model": "none", "coefficients": [0, 0, 0, 0, 0]}, "baseline": 50})"}) {
    const StereoCamera camera = parse(text).camera;
    EXPECT_EQ(camera.left.fx, 380) << text;
    EXPECT_EQ(camera.left.cy, 240.5) << text;
    EXPECT_EQ(camera.left.width, 640) << text;
    EXPECT_DOUBLE_EQ(camera.baseline, 0.05) << text;
  }
}

TEST(RealsenseCalibration, RefusesWithWhatIsMissingOrWrong) {
  EXPECT_THAT(refusal("{}"), HasSubstr("calib: there is no camera with fx, fy, ppx and ppy"));
  EXPECT_THAT(refusal("{\"fx\": "), HasSubstr("calib: byte "));
  EXPECT_THAT(refusal("{\"fx\": 1, \"fy\": 1, \"ppx\": 1, \"ppy\": 1}"),
              HasSubstr("there is no number baseline"));
  EXPECT_THAT(refusal(replaced(kRealsense, "\"ppx\": 428.5", "\"ppx\": \"x\"")),
              HasSubstr("there is no number ppx"));
  EXPECT_THAT(refusal(replaced(kRealsense, "0.0502", "0")),
              HasSubstr("the baseline is 0; it has to be positive"));
  EXPECT_THAT(refusal(replaced(kRealsense, "[0.0, 0.0", "[0.02, 0.0")),
              HasSubstr("the camera has the distortion"));
  EXPECT_THAT(refusal(replaced(kRealsense, "\"width\": 848", "\"width\": 0")),
              HasSubstr("the size of the images is 0 x 480"));
}

}  // namespace
}  // namespace recon
