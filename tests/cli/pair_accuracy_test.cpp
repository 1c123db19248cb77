// A real pair from files to files, against its ground truth.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/pair_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/pair_folder.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/colour_sets.hpp"

namespace recon {
namespace {

/// What a method may at most have wrong by 2 px, of the pixels that it gives a disparity.
struct Floor {
  const char* method;
  double wrong;
};

class PairAccuracy : public PairTest, public testing::WithParamInterface<Floor> {};

/// Share of the values of `map` that differ from `truth` by more than `tolerance(truth)`, of those known in
/// both.
template <class Tolerance>
double wrong_share(const Image<float>& map, const Image<float>& truth, const Tolerance& tolerance) {
  std::size_t known = 0, wrong = 0;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      if (std::isnan(map(x, y)) || std::isnan(truth(x, y))) continue;
      ++known;
      wrong += std::abs(map(x, y) - truth(x, y)) > tolerance(truth(x, y));
    }
  return known == 0 ? 1 : static_cast<double>(wrong) / static_cast<double>(known);
}

TEST_P(PairAccuracy, DepthOfMotorcycleIsThatOfItsGroundTruth) {
  const fs::path pair = fs::path(RECON_SHARED_DIR) / "stereo/motorcycle_quarter";
  if (!fs::exists(pair / "calib.txt")) GTEST_SKIP() << pair << " is not there";
  const Outcome outcome = reconstruct({pair.string(), "-o", "out", "--method", GetParam().method});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Image<float> disparity = read_pfm(file("out/disparity.pfm")), depth = read_pfm(file("out/depth.pfm"));
  const Image<float> truth = read_pfm(pair / "disp0GT.pfm");
  Image<float> true_depth(truth.width(), truth.height());
  // The numbers of its calib.txt.
  for (int y = 0; y < truth.height(); ++y)
    for (int x = 0; x < truth.width(); ++x) true_depth(x, y) = 193.001f * 999.421f / (truth(x, y) + 32.778f);
  EXPECT_GT(known_of(file("out/disparity.pfm")).share, 0.75);
  EXPECT_LT(wrong_share(disparity, truth, [](float) { return 2.0f; }), GetParam().wrong);
  EXPECT_LT(wrong_share(depth, true_depth, [](float z) { return 0.03f * z; }), GetParam().wrong);
  EXPECT_GT(read_ply(file("out/fused.ply")).positions.size(), 200000u);
}

INSTANTIATE_TEST_SUITE_P(Methods, PairAccuracy,
                         testing::Values(Floor{"sgm", 0.065}, Floor{"bm", 0.08},
                                         // Every pixel has a value, hidden ones too.
                                         Floor{"bp", 0.2}));

class SwappedPhotos : public PairTest {};

/// The rows of these do not correspond either, which is no reason to rectify them.
TEST_F(SwappedPhotos, AreSaidToBeThatAlone) {
  const fs::path cones = fs::path(RECON_SHARED_DIR) / "stereo/cones_quarter";
  if (!fs::exists(cones / "im2.ppm")) GTEST_SKIP() << cones << " is not there";
  const Outcome swapped = reconstruct(
      {(cones / "im6.ppm").string(), (cones / "im2.ppm").string(), "--max-disparity", "64", "-o", "out"});
  EXPECT_THAT(swapped.err, testing::HasSubstr("the images seem to be swapped"));
  EXPECT_THAT(swapped.err, testing::Not(testing::HasSubstr("the rows of the images")));
}

TEST_F(SwappedPhotos, ThatAreTheSameAreNoticed) {
  const fs::path left = fs::path(RECON_SHARED_DIR) / "stereo/cones_quarter/im2.ppm";
  if (!fs::exists(left)) GTEST_SKIP() << left << " is not there";
  const Outcome same = reconstruct({left.string(), left.string(), "--max-disparity", "64", "-o", "out"});
  EXPECT_THAT(same.err, testing::HasSubstr(" are the same image"));
}

class PresetAccuracy : public PairTest {};

TEST_F(PresetAccuracy, AdCensusIsTheSystemFromFilesToFiles) {
  struct Set {
    const char *name, *left, *right;
    int disparities;
  };
  for (const Set& set : {Set{"tsukuba", "scene1.row3.col3.ppm", "scene1.row3.col4.ppm", 16},
                         {"venus", "im2.ppm", "im6.ppm", 21}}) {
    const fs::path set_folder = fs::path(RECON_SHARED_DIR) / "stereo" / set.name;
    const fs::path left = set_folder / set.left, right = set_folder / set.right;
    if (!fs::exists(left)) GTEST_SKIP() << left << " is not there";
    const Outcome outcome =
        reconstruct({left.string(), right.string(), "--max-disparity", std::to_string(set.disparities),
                     "--preset", "ad-census", "-o", set.name});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Image<float> found = read_pfm(file(set.name) / "disparity.pfm");
    const Image<Rgb8> left_image = read_image(left), right_image = read_image(right);
    const Image<std::uint8_t> left_grey = read_grey_image(left), right_grey = read_grey_image(right);
    const PairProblem problem =
        pipeline_problem({left_grey.view(), right_grey.view(), {}, {}},
                         {left_image.view(), right_image.view()}, {0, set.disparities}, presets::ad_census());
    const Image<float> expected = match_pair(problem).disparity;
    for (int y = 0; y < expected.height(); ++y)
      for (int x = 0; x < expected.width(); ++x)
        ASSERT_EQ(found(x, y), expected(x, y)) << set.name << " at " << x << " " << y;
  }
}

}  // namespace
}  // namespace recon
