// Dense arrays, PFM files, the configuration files of a workspace and previews.
#include "io/map/map_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Little-endian floats by hand.
const std::string kOne = "\0\0\x80\x3F"s, kTwo = "\0\0\0\x40"s, kThree = "\0\0\x40\x40"s,
                  kFour = "\0\0\x80\x40"s, kZero = "\0\0\0\0"s;

TEST(DepthMap, HasColmapsBytes) {
  const TemporaryFolder folder;
  Image<float> depth(3, 2, kUnknown);
  depth(0, 0) = 1;
  depth(1, 0) = 2;
  depth(0, 1) = 3;
  depth(1, 1) = kInfinity;
  depth(2, 1) = -1;
  write_depth_map(folder / "d.bin", depth.view());
  EXPECT_EQ(slurp(folder / "d.bin"), "3&2&1&" + kOne + kTwo + kZero + kThree + kZero + kZero);
  const Image<float> back = read_depth_map(folder / "d.bin");
  EXPECT_EQ(back(1, 0), 2);
  EXPECT_EQ(back(0, 1), 3);
  for (const auto& [x, y] : {std::pair{2, 0}, {1, 1}, {2, 1}})
    EXPECT_TRUE(std::isnan(back(x, y))) << x << " " << y;
}

TEST(NormalMap, HasColmapsPlanes) {
  const TemporaryFolder folder;
  Image<Vec3f> normals(1, 2, Vec3f{kUnknown, kUnknown, kUnknown});
  normals(0, 0) = {1, 2, 3};
  write_normal_map(folder / "n.bin", normals.view());
  EXPECT_EQ(slurp(folder / "n.bin"), "1&2&3&" + kOne + kZero + kTwo + kZero + kThree + kZero);
  const Image<Vec3f> back = read_normal_map(folder / "n.bin");
  EXPECT_EQ(back(0, 0).y, 2);
  EXPECT_EQ(back(0, 0).z, 3);
  EXPECT_TRUE(std::isnan(back(0, 1).x) && std::isnan(back(0, 1).y) && std::isnan(back(0, 1).z));
}

TEST(ConfidenceMap, IsA255thOfItsGreyValue) {
  const TemporaryFolder folder;
  Image<float> confidence(5, 1, kUnknown);
  confidence(0, 0) = 0.25f;  // 63.75
  confidence(1, 0) = 1;
  confidence(2, 0) = 0;
  confidence(3, 0) = -0.5f;
  confidence_map_file(folder / "c.png", confidence.view()).commit();
  const Image<std::uint8_t> grey = read_grey_image(folder / "c.png");
  EXPECT_EQ((std::vector<int>{grey(0, 0), grey(1, 0), grey(2, 0), grey(3, 0), grey(4, 0)}),
            (std::vector<int>{64, 255, 0, 0, 0}));
  const Image<float> back = read_confidence_map(folder / "c.png");
  EXPECT_EQ(back(0, 0), 64.0f / 255);
  EXPECT_EQ(back(1, 0), 1);
  write_depth_map(folder / "d.bin", confidence.view());
  EXPECT_THAT(message_of<InputError>([&] { read_confidence_map(folder / "d.bin"); }), HasSubstr("d.bin"));
}

TEST(ConfidenceMap, KeepsRoundedConfidencesBitForBit) {
  const TemporaryFolder folder;
  Image<float> confidence(1000, 2);
  const auto given = [](int x) { return static_cast<float>(x) / 999; };
  for (int x = 0; x < 1000; ++x) confidence(x, 0) = given(x), confidence(x, 1) = kUnknown;
  round_confidences(confidence.view());
  confidence_map_file(folder / "c.png", confidence.view()).commit();
  const Image<float> back = read_confidence_map(folder / "c.png");
  for (int x = 0; x < 1000; ++x) {
    EXPECT_NEAR(confidence(x, 0), given(x), 0.5f / 255 + 1e-6f);
    EXPECT_EQ(back(x, 0), confidence(x, 0)) << x;
    EXPECT_TRUE(std::isnan(confidence(x, 1)));
    EXPECT_EQ(back(x, 1), 0);
  }
}

TEST(DepthMap, RefusesWhatDoesNotFit) {
  const auto refusal = [](const std::string& bytes) {
    return message_of<InputError>([&] { parse_depth_map(bytes, "d.bin"); });
  };
  EXPECT_THAT(refusal(""), testing::StartsWith("d.bin: byte 0: the header"));
  EXPECT_THAT(refusal("2&x&1&"), testing::StartsWith("d.bin: byte 2: the header"));
  EXPECT_THAT(refusal("2&2"), HasSubstr("byte 2"));
  EXPECT_THAT(refusal("1&1&1&" + kOne.substr(1)), HasSubstr("takes 4 bytes, but 3 follow"));
  EXPECT_THAT(refusal("1&1&1&" + kOne + "x"), HasSubstr("takes 4 bytes, but 5 follow"));
  EXPECT_THAT(refusal("1&1&3&" + kOne + kOne + kOne), HasSubstr("3 channels where 1"));
  EXPECT_THAT(refusal("0&1&1&"), HasSubstr("0x1"));
  EXPECT_THAT(refusal("-1&1&1&"), HasSubstr("-1x1"));
  EXPECT_THAT(refusal("9000000000000000000&9000000000000000000&1&"), HasSubstr("2^30"));
  EXPECT_THAT(refusal("1000000&1000&1&"), HasSubstr("takes 4000000000 bytes, but 0 follow"));
}

TEST(Pfm, WritesTheBottomRowFirst) {
  const TemporaryFolder folder;
  Image<float> map(2, 2);
  map(0, 0) = 1;
  map(1, 0) = 2;
  map(0, 1) = 3;
  map(1, 1) = kUnknown;
  write_pfm(folder / "d.pfm", map.view());
  EXPECT_EQ(slurp(folder / "d.pfm"), "Pf\n2 2\n-1\n" + kThree + "\0\0\x80\x7F"s + kOne + kTwo);
  const Image<float> back = read_pfm(folder / "d.pfm");
  EXPECT_EQ(back(0, 0), 1);
  EXPECT_EQ(back(1, 0), 2);
  EXPECT_EQ(back(0, 1), 3);
  EXPECT_TRUE(std::isnan(back(1, 1)));
}

TEST(Pfm, ReadsBigEndianAndOtherWhiteSpace) {
  const Image<float> map = parse_pfm("Pf 1\t2\r\n 0.00392 "s + "\x40\0\0\0"s + "\x3F\x80\0\0"s, "d.pfm");
  EXPECT_EQ(map(0, 0), 1);
  EXPECT_EQ(map(0, 1), 2);
}

TEST(Pfm, RefusesWhatDoesNotFit) {
  const auto refusal = [](const std::string& bytes) {
    return message_of<InputError>([&] { parse_pfm(bytes, "d.pfm"); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("d.pfm: byte 0: the header of the PFM file is truncated"));
  EXPECT_THAT(refusal("PF\n1 1\n-1\n" + kOne), HasSubstr("\"PF\""));
  EXPECT_THAT(refusal("Pf\n1 1\n-1"), HasSubstr("truncated"));
  EXPECT_THAT(refusal("Pf\n1 y\n-1\n" + kOne), HasSubstr("d.pfm: byte 5: "));
  EXPECT_THAT(refusal("Pf\n1 1\n0\n" + kOne), HasSubstr("scale"));
  EXPECT_THAT(refusal("Pf\n1 1\nnan\n" + kOne), HasSubstr("scale"));
  EXPECT_THAT(refusal("Pf\n1 2\n-1\n" + kOne), HasSubstr("takes 8 bytes, but 4 follow"));
  EXPECT_THAT(refusal("Pf\n1 1\n-1\n" + kOne + "x"), HasSubstr("takes 4 bytes, but 5 follow"));
  EXPECT_THAT(refusal("Pf\n-4 1\n-1\n"), HasSubstr("-4x1"));
}

TEST(Workspace, ConfigurationsHaveColmapsLines) {
  const TemporaryFolder folder;
  write_patch_match_config(folder / "p.cfg", {{"a b.png", {"c.png", "sub/d.png"}},
                                              {"c.png", {"a,b.png", "#e.png", "d;.png", "f.png", "#e.png"}},
                                              {"none.png", {}},
                                              {"#.png", {"c.png"}}});
  EXPECT_EQ(slurp(folder / "p.cfg"), "a b.png\nc.png, sub/d.png\nc.png\nf.png, #e.png\n");
  write_fusion_config(folder / "f.cfg", {"a b.png", "#.png", "c,d.png"});
  EXPECT_EQ(slurp(folder / "f.cfg"), "a b.png\nc,d.png\n");
}

TEST(DepthPreview, ShowsNearInRedFarInBlueUnknownInBlack) {
  Image<float> depth(100, 1);
  for (int x = 0; x < 100; ++x) depth(x, 0) = 1 / (1 + 0.01f * static_cast<float>(x));  // near on the right
  depth(50, 0) = kUnknown;
  depth(51, 0) = 0;
  const Image<Rgb8> shown = depth_preview(depth.view());
  EXPECT_EQ(shown(50, 0), (Rgb8{0, 0, 0}));
  EXPECT_EQ(shown(51, 0), (Rgb8{0, 0, 0}));
  // Of "turbo" as published: the blue of 16 (64, 64, 162), which is no black, and dark red (122, 4, 3).
  EXPECT_EQ(shown(0, 0), (Rgb8{64, 64, 162}));
  EXPECT_EQ(shown(99, 0), (Rgb8{122, 4, 3}));
  EXPECT_GT(shown(40, 0).g, 200);
  const Image<Rgb8> none = depth_preview(Image<float>(2, 2, kUnknown).view());
  EXPECT_EQ(none(1, 1), (Rgb8{0, 0, 0}));
  Image<float> negative(100, 1, -9.0f);
  for (int x = 50; x < 100; ++x) negative(x, 0) = -4;
  EXPECT_EQ(disparity_preview(negative.view())(99, 0), (Rgb8{122, 4, 3}));
  EXPECT_EQ(disparity_preview(Image<float>(2, 2, 5.0f).view())(1, 1), (Rgb8{64, 64, 162}));
}

}  // namespace
}  // namespace recon
