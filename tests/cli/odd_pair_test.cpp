// Rectified pairs that are not as they should be: a right answer, or a clear message and exit code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/pair_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class OddPair : public PairTest, public testing::WithParamInterface<const char*> {
 protected:
  /// `arguments` with the method, or the preset, of the test.
  static std::vector<std::string> by_method(std::vector<std::string> arguments) {
    const std::string word = GetParam();
    arguments.insert(arguments.end(), {word == "ad-census" ? "--preset" : "--method", word});
    return arguments;
  }
  Outcome match_by_method(const std::vector<std::string>& arguments) const {
    return match(by_method(arguments));
  }
  bool has_result() const { return fs::exists(file("dense/disparity.pfm")); }

  /// A right answer is a map of disparity `wanted`, or exit code 3 with a message and no map.
  void expect_answer(const Outcome& outcome, float wanted) const {
    if (outcome.exit_code == 0) {
      EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, wanted, 0.26);
      return;
    }
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("no disparity was found"));
    EXPECT_FALSE(has_result());
  }
};

TEST_P(OddPair, IdenticalImagesHaveDisparityZero) {
  write_images(kWidth, kHeight, 0);
  const Outcome outcome = match_by_method({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto known = known_of(file("dense/disparity.pfm"));
  EXPECT_GT(known.share, 0.7);
  const Image<float> disparity = read_pfm(file("dense/disparity.pfm"));
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) EXPECT_FALSE(disparity(x, y) > 0.26f) << x << " " << y;
}

TEST_P(OddPair, TheSameFileTwiceIsFine) {
  write_images();
  const Outcome outcome = reconstruct(by_method({"left.png", "left.png", "--max-disparity", "16"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, 0, 0.26);
}

TEST_P(OddPair, ColourAgainstGreyIsAsGreyAgainstGrey) {
  write_images();
  ASSERT_EQ(match_by_method({}).exit_code, 0);
  const std::string grey = content(file("dense/disparity.pfm"));
  const Image<std::uint8_t> right = read_grey_image(file("right.png"));
  Image<Rgb8> colour(right.width(), right.height());
  for (int y = 0; y < right.height(); ++y)
    for (int x = 0; x < right.width(); ++x) colour(x, y) = {right(x, y), right(x, y), right(x, y)};
  write_image(file("right.png"), colour.view());
  const Outcome outcome = match_by_method({"--overwrite"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(content(file("dense/disparity.pfm")), grey);
}

TEST_P(OddPair, SixteenBitsAreTaken) {
  const TexturePair pair = texture_pair(kWidth, kHeight, kShift);
  // 12 bits in 16: dark, if they were taken for 16.
  for (const auto& [image, name] : {std::pair{&pair.left, "left.png"}, {&pair.right, "right.png"}}) {
    Image<std::uint16_t> deep(kWidth, kHeight);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) deep(x, y) = static_cast<std::uint16_t>(16 * (*image)(x, y) + 3);
    write_png16(file(name), deep.view());
  }
  const Outcome outcome = match_by_method({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, kShift, 0.26);
  EXPECT_GT(known_of(file("dense/disparity.pfm")).share, 0.7);
}

TEST_P(OddPair, SixteenBitsAgainstEightAreTaken) {
  write_images();
  const Image<std::uint8_t> left = read_grey_image(file("left.png"));
  Image<std::uint16_t> deep(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) deep(x, y) = static_cast<std::uint16_t>(257 * left(x, y));
  write_png16(file("left.png"), deep.view());
  const Outcome outcome = match_by_method({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, kShift, 0.26);
}

class DeepPair : public PairTest {
 protected:
  /// Rewrites the images of the pair folder "pair" in 16 bits of which `bits` are used.
  void deepen(int bits) const {
    for (const char* name : {"pair/im0.png", "pair/im1.png"}) {
      const Image<std::uint8_t> image = read_grey_image(file(name));
      Image<std::uint16_t> deep(kWidth, kHeight);
      for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x)
          deep(x, y) = static_cast<std::uint16_t>((image(x, y) * ((1 << bits) - 1) + 127) / 255);
      write_png16(file(name), deep.view());
    }
  }
};

TEST_F(DeepPair, HasTheColoursOfEightBits) {
  write_pair_folder("pair");
  ASSERT_EQ(reconstruct({"pair", "--method", "sgm"}).exit_code, 0);
  const PlyCloud expected = read_ply(file("pair/dense/fused.ply"));
  for (const int bits : {9, 10, 12, 14, 16}) {
    write_pair_folder("pair");
    deepen(bits);
    const Outcome outcome = reconstruct({"pair", "--method", "sgm"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const PlyCloud cloud = read_ply(file("pair/dense/fused.ply"));
    ASSERT_EQ(cloud.positions.size(), expected.positions.size()) << bits << " bits";
    EXPECT_TRUE(cloud.colours == expected.colours) << bits << " bits";
  }
}

TEST_F(DeepPair, OfTheOlderSetsOfMiddleburyIsFoundInItsFolder) {
  write_images();
  fs::create_directories(file("cones"));
  fs::rename(file("left.png"), file("cones/im2.png"));
  fs::rename(file("right.png"), file("cones/im6.png"));
  const Outcome outcome = reconstruct({"cones", "--max-disparity", "16"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("cones/dense/disparity.pfm")).median, kShift, 0.26);
}

TEST_P(OddPair, OneRowIsAnswered) {
  write_images(200, 1);
  expect_answer(match_by_method({}), kShift);
}

TEST_P(OddPair, OneColumnIsAnswered) {
  write_images(1, 50, 0);
  expect_answer(match_by_method({}), 0);
}

TEST_P(OddPair, OnePixelIsAnswered) {
  write_images(1, 1, 0);
  expect_answer(match_by_method({}), 0);
  expect_answer(match_by_method({"--fill", "--overwrite"}), 0);
}

TEST_P(OddPair, MoreDisparitiesThanColumnsAreAnswered) {
  write_images(40, 30);
  const Outcome outcome = match_by_method({"--max-disparity", "257"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, kShift, 0.26);
}

TEST_P(OddPair, SwappedImagesAreFoundWithNegativeDisparities) {
  write_images();
  const Outcome outcome =
      reconstruct(by_method({"right.png", "left.png", "--min-disparity", "-15", "--max-disparity", "1"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, -kShift, 0.26);
}

TEST_P(OddPair, SwappedImagesAreSuspected) {
  const TexturePair pair = texture_pair(240, 120, 20);
  write_image(file("left.png"), pair.left.view());
  write_image(file("right.png"), pair.right.view());
  const Outcome right = match_by_method({"--max-disparity", "32"});
  ASSERT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.err, testing::Not(HasSubstr("swapped")));
  const Outcome swapped =
      reconstruct(by_method({"right.png", "left.png", "--max-disparity", "32", "-o", "swapped"}));
  EXPECT_THAT(swapped.err, HasSubstr("swapped"));
  if (swapped.exit_code == 0) {
    EXPECT_THAT(swapped.out, HasSubstr("THE RESULT IS IN DOUBT: the images seem to be swapped: "));
  }
}

TEST_P(OddPair, ImagesWithoutTextureAreThree) {
  const Image<std::uint8_t> flat(60, 40, 128);
  write_images(60, 40);
  for (const char* replaced : {"right.png", "left.png"}) {  // one of them, then both
    write_image(file(replaced), flat.view());
    for (const char* fill : {"", "--fill"}) {
      const Outcome outcome = *fill ? match_by_method({fill, "--overwrite"}) : match_by_method({});
      EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("an image has no texture"));
      EXPECT_FALSE(has_result());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, OddPair, testing::Values("bm", "sgm", "bp", "pipeline", "ad-census"));

class WrongPair : public PairTest {
 protected:
  /// Expects an exit code and a message, nothing on standard output, and no result.
  void expect(int exit_code, const std::string& message, const Outcome& outcome) const {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(fs::exists(file("dense/disparity.pfm")));
  }
};

TEST_F(WrongPair, DifferentSizesAreThreeWithBothSizes) {
  write_images();
  write_image(file("right.png"), Image<std::uint8_t>(100, 80, 0).view());
  expect(3, "left.png has 120x80 pixels and right.png has 100x80", match({}));
}

TEST_F(WrongPair, PhotosThatAreNotRectifiedNeedAScene) {
  const std::string advice = "; photos that are not rectified are no pair: run COLMAP";
  write_images();
  expect(2, advice, reconstruct({"left.png", "right.png"}));
  write_image(file("right.png"), Image<std::uint8_t>(100, 80, 0).view());
  expect(3, advice, match({}));
  fs::create_directories(file("scene/images"));
  fs::create_directories(file("scene/sparse"));
  for (const char* model : {"scene/sparse/cameras.txt", "scene/sparse/images.txt"})
    set_content(file(model), "");
  fs::rename(file("left.png"), file("scene/images/left.png"));
  const std::string part = "; scene/images/left.png is a part of the scene scene: give that folder";
  expect(3, part, reconstruct({"scene/images/left.png", "right.png"}));
  fs::copy_file(file("scene/images/left.png"), file("right.png"), fs::copy_options::overwrite_existing);
  expect(2, part, reconstruct({"scene/images/left.png", "right.png"}));
}

TEST_F(WrongPair, WhatIsNoImageIsThree) {
  write_images();
  expect(3, "absent.png: there is no such file",
         reconstruct({"left.png", "absent.png", "--max-disparity", "9"}));
  set_content(file("right.png"), "this is no image");
  expect(3, "right.png: is no image", match({}));
  set_content(file("right.png"), "");
  expect(3, "right.png: the image file is empty", match({}));
}

TEST_F(WrongPair, WrongUsageIsTwo) {
  write_images();
  write_pair_folder("pair");
  const std::vector<std::string> images = {"left.png", "right.png"};
  // OfPairs.WrongUsageIsRefused tests refusals that need no input files.
  expect(2, "--max-disparity is needed", reconstruct(images));
  set_content(file("calib.txt"), "");
  expect(2, "calib.txt is read of a folder with images only: give --calibration calib.txt",
         reconstruct(images));
  expect(2, "3 files are given", match({"left.png"}));
  expect(2, "one file is given, left.png; a rectified pair is two",
         reconstruct({"left.png", "--max-disparity", "9"}));
  expect(2, "pair is a folder and other inputs are files", reconstruct({"left.png", "pair"}));
  expect(2, "searched is min <= d < ndisp", reconstruct({"pair", "--min-disparity", "20"}));
  expect(2, "--window is 33", match({"--window", "33"}));
  expect(2, "the images are only 120 pixels wide",
         match({"--min-disparity", "120", "--max-disparity", "130"}));
  expect(2, "the images are only 120 pixels wide",
         match({"--min-disparity", "-130", "--max-disparity", "-119"}));
  expect(2, "leads outside the images", match({"--roi", "100,0,40,40"}));
  expect(2, "the pair's folder itself", reconstruct({"pair", "-o", "pair"}));
}

TEST_F(WrongPair, ResultsAreNotWrittenOverImages) {
  const TexturePair pair = texture_pair(kWidth, kHeight, kShift);
  write_image(file("preview.png"), pair.left.view());
  write_image(file("right.png"), pair.right.view());
  expect(2, "preview.png would be written over preview.png",
         reconstruct({"preview.png", "right.png", "--max-disparity", "16", "-o", "."}));
}

TEST_F(WrongPair, ACalibrationThatDoesNotFitIsThree) {
  write_pair_folder("pair", "ndisp=16\nndisp=17\n");
  expect(3, "calib.txt:8: \"ndisp\" is there twice", reconstruct({"pair"}));
  write_pair_folder("pair", "ndisp=1000000\n");
  expect(3, "ndisp is 1000000; at most 4096", reconstruct({"pair"}));
  write_pair_folder("pair", "ndisp=nan\n");
  expect(3, "calib.txt:7: ndisp is \"nan\"", reconstruct({"pair"}));
  write_pair_folder("pair", "");
  expect(2, "calib.txt has no ndisp; --max-disparity is needed", reconstruct({"pair"}));
  write_pair_folder("pair");
  write_image(file("pair/im0.png"), Image<std::uint8_t>(60, 40, 9).view());
  write_image(file("pair/im1.png"), Image<std::uint8_t>(60, 40, 9).view());
  expect(3, "width and height are 120x80, but pair/im0.png has 60x40", reconstruct({"pair"}));
  fs::remove(file("pair/im1.png"));
  expect(3, "it has no image im1.png", reconstruct({"pair"}));
}

TEST_F(WrongPair, NothingKnownIsThreeAlsoWithFill) {
  write_images();
  for (const char* fill : {"--quiet", "--fill"}) {
    const Outcome outcome = match(
        {"--max-mean-cost", "0.001", "--prefilter", "none", "--cost", "ssd", "--min-disparity", "12", fill});
    expect(3, "no disparity was found", outcome);
    EXPECT_THAT(outcome.err, HasSubstr("are the images swapped"));
  }
}

TEST_F(WrongPair, AnOutputThatCannotBeMadeIsTwo) {
  write_images();
  expect(2, "/proc/no such folder/dense: the output folder cannot be made: /proc takes no folders",
         match({"-o", "/proc/no such folder/dense"}));
  set_content(file("taken"), "a file, not a folder");
  expect(2, "taken/dense: the output folder cannot be made: taken is a file", match({"-o", "taken/dense"}));
}

TEST_F(WrongPair, TooLittleMemoryIsFour) {
  write_images();
  expect(4, "narrow --min-disparity and --max-disparity", match({"--memory-limit", "16M"}));
}

}  // namespace
}  // namespace recon
