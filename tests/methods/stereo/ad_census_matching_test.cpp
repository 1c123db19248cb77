// The AD-Census system on made-up pairs and, for its accuracy, on the four pairs of Middlebury's evaluation
// of 2007.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "core/parallel.hpp"
#include "evaluate/disparity_score.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/colour_sets.hpp"

namespace recon {
namespace {

DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range) {
  const Image<std::uint8_t> grey(pair.left.width, pair.left.height);  // which these stages do not use
  return match_pair(pipeline_problem({grey.view(), grey.view(), {}, {}}, pair, range, presets::ad_census()));
}

/// A random left view of blocks, and a right one that shows it moved by `disparity`.
std::pair<Image<Rgb8>, Image<Rgb8>> moved_pair(int width, int height, int disparity) {
  std::mt19937 random(5);
  Image<Rgb8> left(width, height), right(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto level = [&] { return static_cast<std::uint8_t>(random() % 256); };
      left(x, y).r = level(), left(x, y).g = level(), left(x, y).b = level();
    }
    for (int x = 0; x < width; ++x) right(x, y) = left((x + disparity + 10 * width) % width, y);
  }
  return {std::move(left), std::move(right)};
}

TEST(AdCensusMatching, FindsAMovedPictureAndFillsItsBorder) {
  for (const int disparity : {-3, 0, 4}) {
    const auto [left, right] = moved_pair(61, 33, disparity);
    const DisparityMap map = ad_census_matching({left.view(), right.view()}, {-5, 12});
    for (int y = 0; y < 33; ++y)
      for (int x = 0; x < 61; ++x)
        ASSERT_NEAR(map.disparity(x, y), static_cast<float>(disparity), 0.5f) << x << " " << y;
  }
}

TEST(AdCensusMatching, TheSameOnAnyNumberOfThreads) {
  const auto [left, right] = moved_pair(75, 37, 3);
  const auto on = [&](int threads) {
    return ThreadLimit(threads).run([&] { return ad_census_matching({left.view(), right.view()}, {0, 9}); });
  };
  const DisparityMap one = on(1), four = on(4);
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 75; ++x) ASSERT_EQ(one.disparity(x, y), four.disparity(x, y)) << x << " " << y;
}

TEST(AdCensusMatching, TinyImagesAndRangesBeyondThem) {
  for (const auto& [width, height, count] : {std::array{1, 1, 1}, std::array{1, 1, 7}, std::array{1, 9, 3},
                                             std::array{9, 1, 100}, std::array{3, 2, 16}}) {
    const auto [left, right] = moved_pair(width, height, 0);
    const DisparityMap map = ad_census_matching({left.view(), right.view()}, {0, count});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        ASSERT_GE(map.disparity(x, y), -0.5f);
        ASSERT_LE(map.disparity(x, y), static_cast<float>(count) - 0.5f);
      }
  }
}

TEST(AdCensusMatching, RefusesWhatDoesNotFit) {
  const Image<Rgb8> image(4, 3, Rgb8{1, 2, 3}), other(4, 2, Rgb8{1, 2, 3});
  EXPECT_THROW(ad_census_matching({image.view(), other.view()}, {0, 4}), std::logic_error);
  EXPECT_THROW(ad_census_matching({image.view(), image.view()}, {0, 0}), std::logic_error);
}

using Shares = std::array<double, 3>;  ///< per cent of wrong pixels: nonocc, all, disc

Shares bad_pixels(const ColourSet& set, ImageView<const float> disparity) {
  const std::array<double, 1> threshold{1.0};
  Shares shares{};
  const Image<std::uint8_t>* masks[] = {&set.nonocc, &set.all, &set.disc};
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] =
        100 * score_disparity(disparity, set.grey.truth.view(), masks[i]->view(), threshold).bad_of_known[0];
  return shares;
}

/// The paper's figures for the non-occluded pixels (Mei et al. 2011, table 2).
struct Published {
  const char* set;
  double nonocc;
};

TEST(AdCensusAccuracy, TwelveFigures) {
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo";
  double sum = 0;
  for (const Published& published :
       {Published{"tsukuba", 1.07}, {"venus", 0.09}, {"teddy_quarter", 4.10}, {"cones_quarter", 2.42}}) {
    if (!std::filesystem::exists(folder / published.set))
      GTEST_SKIP() << "no pair with ground truth in " << folder / published.set;
    const ColourSet set = read_colour_set(folder / published.set);
    const DisparityMap map =
        ad_census_matching({set.left.view(), set.right.view()}, {0, set.grey.disparities});
    const Shares shares = bad_pixels(set, map.disparity.view());
    std::printf("%-14s nonocc %5.2f %%, all %5.2f %%, disc %5.2f %%\n", published.set, shares[0], shares[1],
                shares[2]);
    EXPECT_LE(shares[0], published.nonocc + 1.0) << published.set;
    for (const double share : shares) sum += share;
  }
  std::printf("mean of the twelve: %.2f %%\n", sum / 12);
  EXPECT_LE(sum / 12, 4.49);
}

}  // namespace
}  // namespace recon
