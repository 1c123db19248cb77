#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/model/nerf_frames.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct FrameFault {
  const char* name;
  std::string file_members, frame_members, message;
};

class NerfModelFault : public testing::TestWithParam<FrameFault> {};

TEST_P(NerfModelFault, IsRefusedWithFieldAndValue) {
  // A frame that cannot be used is left out; here is no other.
  EXPECT_THAT(
      frame_refusal(GetParam().file_members, GetParam().frame_members),
      testing::AnyOf(StartsWith("transforms.json: " + GetParam().message),
                     StartsWith("transforms.json: none of its photos can be used: " + GetParam().message)));
}

const std::string kGood = "\"fl_x\": 9, " + kSize;
const std::string kName = "\"file_path\": \"a.png\", ";

std::string matrix(const std::string& rows) {
  return kName + "\"transform_matrix\": " + rows;
}

INSTANTIATE_TEST_SUITE_P(
    Values, NerfModelFault,
    testing::Values(
        FrameFault{"Parent", kGood, "\"file_path\": \"a/../../../b\", " + kPose,
                   "frames[0].file_path: the path \"a/../../../b\" leads out"},
        FrameFault{"ParentWithoutSize", "\"fl_x\": 9", "\"file_path\": \"../../b\", " + kPose,
                   "frames[0].file_path: the path \"../../b\" leads out"},
        FrameFault{"ParentOfWindows", kGood, "\"file_path\": \"..\\\\..\\\\b\", " + kPose,
                   "frames[0].file_path: the path "},
        FrameFault{"OnlyParents", kGood, "\"file_path\": \"a/..\", " + kPose,
                   "frames[0].file_path: the name \".\" names a folder"},
        FrameFault{"Folder", kGood, "\"file_path\": \"a/\", " + kPose,
                   "frames[0].file_path: the name \"a/\" names a folder"},
        FrameFault{"ParentOfAMask", kGood, kName + kPose + ", \"mask_path\": \"../../m.png\"",
                   "frames[0].mask_path: the path \"../../m.png\" leads out"},
        FrameFault{"NoName", kGood, kPose, "frames[0].file_path: is missing"},
        FrameFault{"NumberAsName", kGood, "\"file_path\": 3, " + kPose,
                   "frames[0].file_path is 3; it must be a text"},
        FrameFault{"NoPose", kGood, "\"file_path\": \"a.png\"", "frames[0].transform_matrix: is missing"},
        FrameFault{"TwoRows", kGood, matrix("[[1,0,0,0],[0,1,0,0]]"),
                   "frames[0].transform_matrix is [[1,0,0,0],[0,1,0,0]]; it must be a list of 3 or 4 rows of "
                   "4 numbers"},
        FrameFault{"FiveRows", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1],[0,0,0,1]]"),
                   "frames[0].transform_matrix is [["},
        FrameFault{"ShortRow", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,1],[0,0,0,1]]"),
                   "frames[0].transform_matrix is"},
        FrameFault{"Word", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,\"1\",0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[2][2] is \"1\""},
        FrameFault{"Null", kGood, matrix("null"), "frames[0].transform_matrix is null; it must be a list"},
        FrameFault{"NullElement", kGood, matrix("[[null,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[0][0] is null; it must be a finite number"},
        FrameFault{"Nan", kGood, matrix("[[NaN,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[0][0] is \"NaN\"; it must be a finite number"},
        FrameFault{"Infinite", kGood, matrix("[[1,0,0,-Infinity],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[0][3] is \"-Infinity\""},
        FrameFault{"TooLarge", kGood, matrix("[[1,0,0,1e999],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[0][3] is \"1e999\""},
        FrameFault{"TooLong", kGood,
                   matrix("[[" + std::string(400, '9') + ",0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix[0][0] is \"999"},
        FrameFault{"NanAsFocalLength", kSize + ", \"fl_x\": NaN", kName + kPose,
                   "fl_x is \"NaN\"; it must be a number"},
        FrameFault{"LastRow", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0.1,1]]"),
                   "frames[0].transform_matrix: the last row of the matrix is 0 0 0.1 1;"},
        FrameFault{"LastElement", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,0]]"),
                   "frames[0].transform_matrix: the last row of the matrix is 0 0 0 0;"},
        FrameFault{"NotAllScaled", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,2]]"),
                   "frames[0].transform_matrix: the upper left 3x3 matrix R is no rotation"},
        FrameFault{
            "Scaled", kGood, matrix("[[1.5,0,0,0],[0,1.5,0,0],[0,0,1.5,0],[0,0,0,1]]"),
            "frames[0].transform_matrix: the upper left 3x3 matrix R is no rotation: R R^T differs from "
            "the identity by 1.25"},
        FrameFault{"Sheared", kGood, matrix("[[1,0,0,0],[0.01,1,0,0],[0,0,1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix: the upper left 3x3 matrix R is no rotation"},
        FrameFault{"Overflow", kGood, matrix("[[1e200,0,0,0],[0,1e200,0,0],[0,0,-1e200,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix: the upper left 3x3 matrix R is no rotation"},
        FrameFault{"Mirror", kGood, matrix("[[1,0,0,0],[0,1,0,0],[0,0,-1,0],[0,0,0,1]]"),
                   "frames[0].transform_matrix: the upper left 3x3 matrix is a mirror"},
        FrameFault{"NoFocalLength", kSize, kName + kPose, "frames[0].fl_x: is missing, as is camera_angle_x"},
        FrameFault{"FocalLength", kSize + ", \"fl_x\": 0", kName + kPose,
                   "fl_x: is 0; it must be a length in pixels"},
        FrameFault{"OtherFocalLength", kGood, kName + kPose + ", \"fl_y\": -2",
                   "frames[0].fl_y: is -2; it must be a length"},
        FrameFault{"Angle", kSize + ", \"camera_angle_x\": 3.2", kName + kPose,
                   "camera_angle_x: is 3.2; it must be an angle"},
        FrameFault{"NoHeight", "\"fl_x\": 9, \"w\": 8", kName + kPose, "frames[0].h: is missing"},
        FrameFault{"Width", "\"fl_x\": 9, \"w\": 8.5, \"h\": 6", kName + kPose,
                   "w: is 8.5; it must be an integer"},
        FrameFault{"HugeWidth", "\"fl_x\": 9, \"w\": 1e9, \"h\": 6", kName + kPose,
                   "w: is 1000000000; it must be a size"},
        FrameFault{"HugeArea", "\"fl_x\": 9, \"w\": 1e6, \"h\": 1e6", kName + kPose,
                   "frames[0].file_path: camera 1 has a size"},
        FrameFault{
            "Model", kGood + ", \"camera_model\": \"VR180_L\"", kName + kPose,
            "camera_model: is \"VR180_L\"; it must be OPENCV, PINHOLE, OPENCV_FISHEYE or EQUIRECTANGULAR"},
        FrameFault{"PerspectiveK4", kGood + ", \"k4\": 0.1", kName + kPose, "k4: is 0.1; it must be 0"},
        FrameFault{"FisheyeP1", kGood + ", \"is_fisheye\": true, \"p1\": 0.1", kName + kPose,
                   "p1: is 0.1; it must be 0"}),
    [](const auto& test) { return test.param.name; });

TEST(NerfModel, LeavesOutFramesWithoutAPose) {
  const std::string good = "{" + kName + kPose + "}";
  for (const char* pose : {"null", "[[NaN, 0, 0, 5], [0, 0, -1, 6], [0, 1, 0, 7], [0, 0, 0, 1]]",
                           "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]",
                           "[[1, 0, 0, Infinity], [0, 0, -1, 6], [0, 1, 0, 7]]"}) {
    const Scene scene = parse_frames("{" + kGood + ", \"frames\": [" + good +
                                     ", {\"file_path\": \"b.png\", \"transform_matrix\": " + pose + "}]}");
    ASSERT_EQ(scene.views.size(), 1u) << pose;
    ASSERT_EQ(scene.unusable.size(), 1u);
    EXPECT_EQ(scene.unusable[0].name, "b.png");
    EXPECT_THAT(scene.unusable[0].reason, StartsWith("transforms.json: frames[1].transform_matrix"));
  }
}

TEST(NerfModel, RefusesFilesThatAreNone) {
  const auto refused = [](const std::string& text) {
    return message_of<InputError>([&] { parse_frames(text); });
  };
  EXPECT_THAT(refused(""), StartsWith("transforms.json: byte 1: this is not JSON"));
  EXPECT_THAT(refused("{\n\"a\": NaN, \"b\" 3}"),
              StartsWith("transforms.json: byte 17: this is not JSON, in line 2: it goes wrong at the end of "
                         "\"{\\n\\\"a\\\": NaN, \\\"b\\\" 3\""))
      << "the byte of the file, though NaN is read as a word";
  EXPECT_THAT(refused("{\"a\": 1,"), HasSubstr("in line 1: the text ends here"));
  EXPECT_THAT(
      refused("{\"frames\": \"caf\xE9\"}"),
      StartsWith("transforms.json: byte 16: the text is not UTF-8 from here on; save it in that encoding"));
  for (const char* text : {"", "{", "nul", "{\"a\": 1e999}", "{\"a\": tru}", "[1, 2", "\"\\x\"",
                           "{\"a\": \"\xE9\"}", "{\"a\": 1 // it's \"so\n, \"b\": NaN}"})
    EXPECT_THAT(refused(text), testing::Not(HasSubstr("json.exception"))) << text;
  EXPECT_THAT(refused("{\"a\": 1 // it's \"so\n, \"b\": NaN /* and \" */}"),
              StartsWith("transforms.json: frames: is missing"));
  EXPECT_THAT(refused("[]"), StartsWith("transforms.json: the file is []; it must be an object"));
  EXPECT_THAT(refused("{}"), StartsWith("transforms.json: frames: is missing"));
  EXPECT_THAT(refused("{\"frames\": []}"), StartsWith("transforms.json: there is no photo in it"));
  EXPECT_THAT(refused("{\"frames\": [3]}"),
              StartsWith("transforms.json: frames[0] is 3; it must be an object"));
  EXPECT_THAT(refused(std::string(1 << 20, '[')), HasSubstr("nested more than 32 deep"));
  const std::string frame = "{" + kName + kPose + "}";
  EXPECT_THAT(
      refused("{" + kGood + ", \"frames\": [" + frame + ", {\"file_path\": \"../a.png\", " + kPose + "}]}"),
      StartsWith("transforms.json: frames[1].file_path: the image name \"a.png\" is there twice"));
  EXPECT_THAT(refused("{\"fl_x\": 9, \"frames\": [" + frame + "]}"),
              StartsWith("transforms.json: none of its photos can be used: nowhere/a.png"));
}

}  // namespace
}  // namespace recon
