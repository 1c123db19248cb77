#include "io/model/pair_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "io/error_message.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

const std::string kWholeCalibration =
    "cam0=[999.421 0 294.182; 0 998.5 252.932; 0 0 1]\n"
    "cam1=[999.421 0 326.96; 0 998.5 252.932; 0 0 1]\n"
    "doffs=32.778\nbaseline=193.001\nwidth=741\nheight=497\nndisp=70\nisint=0\nvmin=7\nvmax=65\ndyavg=0.23\n";

/// The text with the line that begins with `key` replaced, or removed if `line` is empty.
std::string with(const std::string& key, const std::string& line) {
  std::string text = kWholeCalibration;
  const std::size_t begin =
      text.find("\n" + key + "=") == std::string::npos ? 0 : text.find("\n" + key + "=") + 1;
  const std::size_t end = text.find('\n', begin);
  return text.replace(begin, end - begin + 1, line.empty() ? "" : line + "\n");
}

std::string calibration_refusal(const std::string& text) {
  return message_of<InputError>([&] { parse_pair_calibration(text, "calib.txt"); });
}

TEST(PairCalibration, HasTheCameraWithOurPixelCentres) {
  const PairCalibration calibration = parse_pair_calibration(kWholeCalibration, "calib.txt");
  const StereoCamera& camera = calibration.camera;
  EXPECT_EQ(camera.left.width, 741);
  EXPECT_EQ(camera.left.height, 497);
  EXPECT_EQ(camera.left.fx, 999.421);
  EXPECT_EQ(camera.left.fy, 998.5);
  // The file has the centre of the first pixel at 0, ours is at 0.5.
  EXPECT_DOUBLE_EQ(camera.left.cx, 294.682);
  EXPECT_DOUBLE_EQ(camera.left.cy, 253.432);
  EXPECT_EQ(camera.offset, 32.778);
  EXPECT_EQ(camera.baseline, 193.001);
  EXPECT_EQ(calibration.disparities, 70);
}

TEST(PairCalibration, ThePointOnTheAxisIsSeenAtThePixelOfTheFile) {
  const StereoCamera camera = parse_pair_calibration(kWholeCalibration, "calib.txt").camera;
  const Vec2d index = index_of(camera.left.project({0, 0, 7}));
  EXPECT_DOUBLE_EQ(index.x, 294.182);
  EXPECT_DOUBLE_EQ(index.y, 252.932);
}

TEST(StereoCamera, DepthIsWhereTheRaysOfBothCamerasMeet) {
  const StereoCamera camera{{100, 80, 50, 50, 50.5, 40.5}, 0.25, 4};
  // The right camera is 0.25 further right, and its cx is 4 pixels larger.
  const Pinhole right{100, 80, 50, 50, 54.5, 40.5};
  const Vec3d point{1.5, -0.5, 6.25};
  const double disparity = camera.left.project(point).x - right.project({point.x - 0.25, point.y, point.z}).x;
  EXPECT_DOUBLE_EQ(disparity, -2);
  EXPECT_DOUBLE_EQ(camera.depth(disparity), 6.25);
}

TEST(PairCalibration, DoesWithoutWhatCanBeKnownOtherwise) {
  const PairCalibration calibration = parse_pair_calibration(
      "# ours\r\ncam0=[100 0 10; 0 100 20; 0 0 1]\r\ncam1 = [100 0 12.5; 0 100 20; 0 0 1]\r\nbaseline=1e-1",
      "calib.txt");
  EXPECT_EQ(calibration.camera.offset, 2.5);
  EXPECT_EQ(calibration.camera.baseline, 0.1);
  EXPECT_EQ(calibration.camera.left.width, 0);
  EXPECT_FALSE(calibration.disparities.has_value());
}

TEST(PairCalibration, RefusesWithFileLineAndValue) {
  EXPECT_THAT(calibration_refusal(""), HasSubstr("calib.txt: there is no line cam0="));
  EXPECT_THAT(calibration_refusal(with("cam1", "")), HasSubstr("no line cam1="));
  EXPECT_THAT(calibration_refusal(with("baseline", "")), HasSubstr("no line baseline="));
  EXPECT_THAT(calibration_refusal(with("baseline", "baseline=nan")),
              HasSubstr("calib.txt:4: baseline is \"nan\""));
  EXPECT_THAT(calibration_refusal(with("baseline", "baseline=-3")), HasSubstr("it has to be positive"));
  EXPECT_THAT(calibration_refusal(with("baseline", "baseline=3 mm")), HasSubstr("\"mm\" follows baseline"));
  EXPECT_THAT(calibration_refusal(with("doffs", "doffs=inf")), HasSubstr("calib.txt:3: doffs is \"inf\""));
  EXPECT_THAT(calibration_refusal(with("doffs", "doffs=-32.778")), HasSubstr("less cx of cam0 is 32.77"));
  EXPECT_THAT(calibration_refusal(with("ndisp", "ndisp=70.5")), HasSubstr("calib.txt:7: ndisp is \"70.5\""));
  EXPECT_THAT(calibration_refusal(with("ndisp", "ndisp=0")), HasSubstr("positive integer"));
  EXPECT_THAT(calibration_refusal(with("width", "width=99999999999")), HasSubstr("calib.txt:5: width"));
  EXPECT_THAT(calibration_refusal(kWholeCalibration + "ndisp=80\n"),
              HasSubstr("calib.txt:12: \"ndisp\" is there twice"));
  EXPECT_THAT(calibration_refusal("rubbish\n"), HasSubstr("calib.txt:1: the line is \"rubbish\""));
}

TEST(PairCalibration, RefusesMatricesThatAreNone) {
  for (const char* matrix :
       {"[999.421 0 294.182; 0 998.5 252.932; 0 0 1", "999.421 0 294.182", "[]", "[1 2 3]",
        "[999.421 0 294.182; 0 998.5 252.932]", "[999.421 0.5 294.182; 0 998.5 252.932; 0 0 1]",
        "[0 0 294.182; 0 998.5 252.932; 0 0 1]", "[-9 0 294.182; 0 998.5 252.932; 0 0 1]",
        "[999.421 0 nan; 0 998.5 252.932; 0 0 1]", "[999.421 0 1 2; 0 998.5 252.932; 0 0 1]",
        "[999.421 0 294.182; 0 998.5 252.932; 0 0 2]", "[999.421 0 294.182; 0 998.5 252.932; 0 0 1; 0 0 1]"})
    EXPECT_THAT(calibration_refusal(with("cam0", std::string("cam0=") + matrix)), HasSubstr("calib.txt:1: "))
        << matrix;
  EXPECT_THAT(calibration_refusal(with("cam1", "cam1=[999 0 326.96; 0 998.5 252.932; 0 0 1]")),
              HasSubstr("not rectified"));
}

}  // namespace
}  // namespace recon
