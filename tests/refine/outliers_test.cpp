#include "refine/outliers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "core/volume.hpp"
#include "reference/ad_census_reference.hpp"
#include "refine/cost_refinement.hpp"
#include "refine/rows.hpp"

namespace recon {
namespace {

using test::image_of, test::row_of, test::U;
using testing::ElementsAre;
constexpr float kNone = std::numeric_limits<float>::infinity();
constexpr Outlier kOk = Outlier::kNone, kOut = Outlier::kOutlier;

Rgb8 grey(int level) {
  const auto value = static_cast<std::uint8_t>(level);
  return {value, value, value};
}

TEST(LeftRightCheck, ByHand) {
  // A foreground of disparity 2 in front of a background of 0: right columns 0 and 1 show left 2 and 3.
  const auto left = image_of<float>({{0, 0, 2, 2, 0, 1, U}});
  const auto right = image_of<float>({{2, 2, 0, 0, 0, 9, 0}});
  // 0, 1: R(0) = R(1) = 2. 2, 3 agree, as does 4. 5: R(4) = 0 is not 1. 6: unknown.
  EXPECT_THAT(row_of(left_right_check(left.view(), right.view(), 0.0f), 0),
              ElementsAre(kOut, kOut, kOk, kOk, kOk, kOut, kOut));
}

TEST(LeftRightCheck, ToleranceAndNegativeDisparities) {
  const auto left = image_of<float>({{-1, 0.4f, U}});
  const auto right = image_of<float>({{5, -0.5f, 7}});
  EXPECT_THAT(row_of(left_right_check(left.view(), right.view(), 0.0f), 0), ElementsAre(kOut, kOut, kOut));
  EXPECT_THAT(row_of(left_right_check(left.view(), right.view(), 0.5f), 0), ElementsAre(kOk, kOut, kOut));
}

TEST(RegionVoting, DecidesByHand) {
  // All five pixels are one region; 3 of 4 reliable ones have disparity 7.
  const std::vector<Cross> arms = {{0, 4, 0, 0}, {1, 3, 0, 0}, {2, 2, 0, 0}, {3, 1, 0, 0}, {4, 0, 0, 0}};
  const auto crosses = image_of<Cross>({arms});
  const Image<float> unseen(5, 1, U);
  const auto vote = [&](VotingOptions options) {
    auto map = image_of<float>({{7, 7, 5, 4, 7}});
    auto labels = image_of<Outlier>({{kOk, kOk, kOut, kOk, kOk}});
    vote_in_regions(map.view(), labels.view(), crosses.view(), 3, 6, options, unseen.view());
    return std::pair(map(2, 0), labels(2, 0));
  };
  EXPECT_EQ(vote({3, 0.4f, 1}), std::pair(7.0f, kOk));
  EXPECT_EQ(vote({4, 0.4f, 1}), std::pair(5.0f, kOut)) << "four votes are not more than four";
  EXPECT_EQ(vote({3, 0.75f, 1}), std::pair(5.0f, kOut)) << "three of four are not more than 0.75";
  EXPECT_EQ(vote({3, 0.4f, 0}), std::pair(5.0f, kOut));
}

TEST(Contradiction, OfWhatTheRightViewWouldShowInFront) {
  const auto right = [](int column) { return column == 0 ? 2.0f : (column == 1 ? 5.0f : U); };
  EXPECT_TRUE(contradicted(4.0f, 4, 3, right)) << "column 0 shows 2, which 4 would hide";
  EXPECT_FALSE(contradicted(3.0f, 3, 3, right)) << "2 is one away from 3";
  EXPECT_FALSE(contradicted(4.0f, 5, 3, right)) << "column 1 shows 5, in front";
  EXPECT_FALSE(contradicted(4.0f, 6, 3, right)) << "column 2 is unknown";
  EXPECT_FALSE(contradicted(4.0f, 3, 3, right)) << "column -1 is not seen";
  EXPECT_FALSE(contradicted(4.0f, 7, 3, right)) << "nor is column 3";
}

TEST(RegionVoting, TheRightMapHasAVeto) {
  const auto crosses = image_of<Cross>({{{0, 1, 0, 0}, {1, 0, 0, 0}}});
  for (const float seen : {0.0f, 1.0f}) {
    auto map = image_of<float>({{2, 0}});
    auto labels = image_of<Outlier>({{kOk, kOut}});
    const auto right = image_of<float>({{U, U}});
    const auto far_right = image_of<float>({{seen, seen}});
    vote_in_regions(map.view(), labels.view(), crosses.view(), -1, 5, {0, 0.4f, 1}, right.view());
    EXPECT_EQ(map(1, 0), 2.0f) << "it knows nothing of column -1";
    map(0, 0) = 1, map(1, 0) = -1, labels(1, 0) = kOut;
    vote_in_regions(map.view(), labels.view(), crosses.view(), -1, 5, {0, 0.4f, 1}, far_right.view());
    EXPECT_EQ(map(1, 0), 1.0f) << "column 0 shows no more than one less";
    map(0, 0) = 1, map(1, 0) = -1, labels(1, 0) = kOut;
    const auto behind = image_of<float>({{-seen - 0.5f, 9}});
    vote_in_regions(map.view(), labels.view(), crosses.view(), -1, 5, {0, 0.4f, 1}, behind.view());
    EXPECT_EQ(map(1, 0), -1.0f) << "column 0 shows what lies behind";
    EXPECT_EQ(labels(1, 0), kOut);
  }
}

TEST(Interpolation, TheRightMapRulesOut) {
  // Pixel 2 may take 2 from the left or 1 from the right; its colour equals that of the left one.
  const auto colours = image_of<Rgb8>({{grey(9), grey(50), grey(50), grey(90)}});
  const auto filled = [&](std::vector<float> right_row) {
    auto map = image_of<float>({{2, 2, U, 1}});
    const auto labels = image_of<Outlier>({{kOk, kOk, kOut, kOk}});
    const auto right = image_of<float>({right_row});
    interpolate_outliers(map.view(), labels.view(), colours.view(), right.view());
    return map(2, 0);
  };
  EXPECT_EQ(filled({2, 1, 0, 0}), 2.0f) << "the most similar colour, though hidden";
  EXPECT_EQ(filled({0, 1, 0, 0}), 1.0f) << "2 would be in front of column 0";
  EXPECT_EQ(filled({0, -1, 0, 0}), 1.0f) << "the lower one where both are ruled out";
}

TEST(Surfaces, SmallOnesAreInvalidated) {
  const auto map = image_of<float>({{1, 2, 3, 7, 7}, {9, 9, U, 7, 1}});
  Image<Outlier> labels(5, 2, kOk);
  labels(0, 1) = kOut;
  invalidate_small_segments(map.view(), labels.view(), 3);
  EXPECT_THAT(row_of(labels, 0), ElementsAre(kOk, kOk, kOk, kOk, kOk));
  EXPECT_THAT(row_of(labels, 1), ElementsAre(kOut, kOut, kOut, kOk, kOut));
}

TEST(Surfaces, LeaningOnesAreCarriedOnToTheBorder) {
  // d = 20 - x / 4, known from column 20 on; columns below 20 - 5 = 15 lie outside the right view.
  Image<float> map(60, 9);
  Image<Outlier> labels(60, 9, kOk);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 60; ++x) {
      map(x, y) = x < 20 ? 3.0f : 20.0f - static_cast<float>(x) / 4;
      if (x < 20) labels(x, y) = kOut;
    }
  extend_surfaces(map.view(), labels.view(), 0, 19);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 20; ++x) {
      const bool outside = x < 15;
      EXPECT_EQ(labels(x, y), outside ? kOk : kOut) << x;
      EXPECT_FLOAT_EQ(map(x, y), outside ? std::min(20.0f - static_cast<float>(x) / 4, 18.0f) : 3.0f) << x;
    }
}

TEST(RegionVoting, VotesSpreadByOneIterationAtATime) {
  const std::vector<Cross> arms = {{0, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 0, 0}};
  const auto crosses = image_of<Cross>({arms});
  const Image<float> unseen(4, 1, U);
  for (const int iterations : {1, 2}) {
    auto map = image_of<float>({{2, U, U, U}});
    auto labels = image_of<Outlier>({{kOk, kOut, kOut, kOut}});
    vote_in_regions(map.view(), labels.view(), crosses.view(), 0, 3, {0, 0.4f, iterations}, unseen.view());
    EXPECT_EQ(labels(iterations, 0), kOk);
    EXPECT_EQ(map(iterations, 0), 2.0f);
    EXPECT_EQ(labels(iterations + 1, 0), kOut);
  }
}

TEST(Interpolation, TakesTheMostSimilarColour) {
  auto map = image_of<float>({{9, 0, 3}, {0, 0, 0}, {5, 0, 4}});
  const auto colours = image_of<Rgb8>(
      {{grey(100), grey(0), grey(50)}, {grey(0), grey(98), grey(0)}, {grey(96), grey(0), grey(0)}});
  Image<Outlier> labels(3, 3, kOut);
  labels(0, 0) = labels(2, 0) = labels(0, 2) = labels(2, 2) = kOk;
  const Image<float> unseen(3, 3, U);
  interpolate_outliers(map.view(), labels.view(), colours.view(), unseen.view());
  EXPECT_EQ(map(1, 1), 5.0f) << "100 and 96 are as near to 98: the lower disparity";
  EXPECT_EQ(labels(1, 1), kOut);
}

TEST(Interpolation, WithoutReliablePixelsNothingChanges) {
  auto map = image_of<float>({{U, 3}});
  const Image<Outlier> labels(2, 1, kOut);
  const Image<Rgb8> colours(2, 1, grey(1));
  interpolate_outliers(map.view(), labels.view(), colours.view(), Image<float>(2, 1, U).view());
  EXPECT_TRUE(std::isnan(map(0, 0)));
  EXPECT_EQ(map(1, 0), 3.0f);
}

Volume<float> volume_of(const reference::FloatVolume& costs) {
  Volume<float> volume(costs.width, costs.planes, costs.height);
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d)
      for (int x = 0; x < costs.width; ++x) volume.view()(x, y, d) = costs(x, y, d);
  return volume;
}

TEST(Discontinuities, TakeTheSideOfLowerCostByHand) {
  reference::FloatVolume costs(4, 1, 6);
  for (float& cost : costs.values) cost = 3;
  costs(1, 0, 4) = 1;  // pixel 1 costs less on the right side's plane
  costs(2, 0, 1) = 5;  // pixel 2 does not on the left side's
  const Volume<float> volume = volume_of(costs);
  const auto map = image_of<float>({{11, 11, 14, 15}});
  EXPECT_THAT(row_of(adjust_discontinuities(map.view(), volume.view(), 10), 0), ElementsAre(11, 14, 14, 15));
  const auto level = image_of<float>({{13, 13, 14, 14}});
  EXPECT_THAT(row_of(adjust_discontinuities(level.view(), volume.view(), 10), 0), ElementsAre(13, 13, 14, 14))
      << "a step of one is no edge";
}

TEST(Subpixel, RoundsToSixteenths) {
  reference::FloatVolume costs(1, 1, 3);
  costs.values = {2, 1, 1.9f};  // 0.1 / 3.8 = 0.026, less than half a sixteenth
  auto map = image_of<float>({{1}});
  enhance_subpixel(map.view(), volume_of(costs).view(), 0);
  EXPECT_EQ(map(0, 0), 1.0f);
  costs.values = {2, 1, 1.8f};  // 0.2 / 3.6 = 0.056
  enhance_subpixel(map.view(), volume_of(costs).view(), 0);
  EXPECT_EQ(map(0, 0), 1.0625f);
}

TEST(Subpixel, ParabolaByHand) {
  reference::FloatVolume costs(3, 1, 3);
  costs.values = {4, 1, 2, 4, 1, 2, 4, 1, 2};
  const Volume<float> volume = volume_of(costs);
  auto map = image_of<float>({{6, 5, 6.5f}});
  enhance_subpixel(map.view(), volume.view(), 5);
  // 6 - (2 - 4) / (2 (2 + 4 - 2)) = 6.25; the first plane has no neighbour below; 6.5 is not an integer.
  EXPECT_THAT(row_of(map, 0), ElementsAre(6.25f, 5.0f, 6.5f));
}

struct Shape {
  int width, height, min, count;
};

class Refinement : public testing::TestWithParam<Shape> {
 protected:
  /// Disparities in steps, some wrong and some unknown.
  Image<float> random_map() {
    Image<float> map(GetParam().width, GetParam().height);
    for (int y = 0; y < map.height(); ++y)
      for (int x = 0; x < map.width(); ++x) {
        const int flat = (x / 5 + y / 7) * 3 % GetParam().count;
        const auto chance = random_() % 10;
        const int any = static_cast<int>(random_() % static_cast<unsigned>(GetParam().count));
        map(x, y) = chance == 0 ? U : static_cast<float>(GetParam().min + (chance < 3 ? any : flat));
      }
    return map;
  }
  Image<Rgb8> random_colours() {
    Image<Rgb8> image(GetParam().width, GetParam().height);
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) image(x, y) = grey(static_cast<int>(random_() % 9));
    return image;
  }
  Cross random_cross(int x, int y) {
    const auto arm = [&](int most) {
      return static_cast<std::uint8_t>(random_() % static_cast<unsigned>(std::min(most, 5) + 1));
    };
    const int right = GetParam().width - 1 - x, down = GetParam().height - 1 - y;
    return {arm(x), arm(right), arm(y), arm(down)};
  }
  std::mt19937 random_{7};
};

void expect_same(float found, float expected, int x, int y) {
  if (std::isnan(expected))
    ASSERT_TRUE(std::isnan(found)) << x << " " << y;
  else
    ASSERT_EQ(found, expected) << x << " " << y;
}

void expect_same(const Image<float>& map, const Image<Outlier>& labels,
                 const reference::LabelledMap& expected) {
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      expect_same(map(x, y), expected.disparity[expected.index(x, y)], x, y);
      ASSERT_EQ(static_cast<int>(labels(x, y)), static_cast<int>(expected.label[expected.index(x, y)]))
          << x << " " << y;
    }
}

TEST_P(Refinement, OfOutliersEqualsTheTextbook) {
  const Shape& shape = GetParam();
  for (const float tolerance : {0.0f, 1.0f}) {
    Image<float> left = random_map();
    const Image<float> right = random_map();
    const Image<Rgb8> colours = random_colours();
    Image<Cross> crosses(shape.width, shape.height);
    std::vector<reference::Cross> plain;
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) {
        const Cross cross = crosses(x, y) = random_cross(x, y);
        plain.push_back({cross.left, cross.right, cross.up, cross.down});
      }
    ThreadLimit(3).run([&] {
      reference::LabelledMap expected = reference::find_outliers(left.view(), right.view(), tolerance);
      Image<Outlier> labels = left_right_check(left.view(), right.view(), tolerance);
      expect_same(left, labels, expected);
      reference::vote(expected, plain, shape.min, shape.count, 4, 0.4f, 3, right.view());
      vote_in_regions(left.view(), labels.view(), crosses.view(), shape.min, shape.count, {4, 0.4f, 3},
                      right.view());
      expect_same(left, labels, expected);
      reference::interpolate(expected, colours.view(), right.view());
      interpolate_outliers(left.view(), labels.view(), colours.view(), right.view());
      expect_same(left, labels, expected);
    });
  }
}

TEST_P(Refinement, OfSurfacesEqualsTheTextbook) {
  const Shape& shape = GetParam();
  Image<float> map = random_map();
  Image<Outlier> labels(shape.width, shape.height);
  reference::LabelledMap expected(shape.width, shape.height);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      // Flat ground with wrong pixels on it, so that surfaces of all sizes occur.
      if (random_() % 4 != 0) map(x, y) = static_cast<float>(shape.min + std::min(x / 9, shape.count - 1));
      const bool outlier = x < shape.count || random_() % 9 == 0;
      labels(x, y) = outlier ? kOut : kOk;
      expected.disparity[expected.index(x, y)] = map(x, y);
      expected.label[expected.index(x, y)] =
          outlier ? reference::Label::kOutlier : reference::Label::kReliable;
    }
  reference::invalidate_small_segments(expected, 9);
  invalidate_small_segments(map.view(), labels.view(), 9);
  expect_same(map, labels, expected);
  reference::extend_surfaces(expected, shape.min, shape.count, kFitReach, kMinFit);
  ThreadLimit(3).run([&] { extend_surfaces(map.view(), labels.view(), shape.min, shape.count); });
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const std::size_t i = expected.index(x, y);
      if (!std::isnan(expected.disparity[i])) {
        ASSERT_NEAR(map(x, y), expected.disparity[i], 1e-4) << x << " " << y;
      }
      ASSERT_EQ(static_cast<int>(labels(x, y)), static_cast<int>(expected.label[i])) << x << " " << y;
    }
}

TEST_P(Refinement, ByCostsEqualsTheTextbook) {
  const Shape& shape = GetParam();
  reference::FloatVolume costs(shape.width, shape.height, shape.count);
  for (float& cost : costs.values)
    cost = random_() % 8 == 0 ? kNone : static_cast<float>(random_() % 1000) / 500.0f;
  const Volume<float> volume = volume_of(costs);
  const Image<float> map = random_map();
  Image<float> adjusted = adjust_discontinuities(map.view(), volume.view(), shape.min);
  const std::vector<float> expected = reference::adjust_discontinuities(map.view(), costs, shape.min);
  std::size_t i = 0;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) expect_same(adjusted(x, y), expected[i++], x, y);
  const std::vector<float> enhanced = reference::enhance(adjusted.view(), costs, shape.min);
  enhance_subpixel(adjusted.view(), volume.view(), shape.min);
  i = 0;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) expect_same(adjusted(x, y), enhanced[i++], x, y);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Refinement,
                         testing::Values(Shape{1, 1, 0, 1}, Shape{1, 1, 0, 7}, Shape{1, 19, 0, 7},
                                         Shape{23, 1, -3, 7}, Shape{33, 17, 0, 1}, Shape{33, 17, -5, 16},
                                         Shape{131, 19, 2, 16}, Shape{47, 31, 0, 100}));

TEST(RefinementSizes, RefuseWhatDoesNotFit) {
  Image<float> map(4, 3, 1.0f), other(4, 2, 1.0f);
  Image<Outlier> labels(4, 3, kOk), few(3, 3, kOk);
  const Image<Cross> crosses(4, 3, Cross{0, 0, 0, 0});
  const Image<Rgb8> image(4, 2, grey(0));
  Volume<float> costs(4, 2, 2);
  EXPECT_THROW(left_right_check(map.view(), other.view(), 0), std::logic_error);
  EXPECT_THROW(vote_in_regions(map.view(), few.view(), crosses.view(), 0, 2, {}, map.view()),
               std::logic_error);
  EXPECT_THROW(vote_in_regions(map.view(), labels.view(), crosses.view(), 0, 0, {}, map.view()),
               std::logic_error);
  EXPECT_THROW(interpolate_outliers(map.view(), labels.view(), image.view(), map.view()), std::logic_error);
  EXPECT_THROW(vote_in_regions(map.view(), labels.view(), crosses.view(), 0, 1, {}, other.view()),
               std::logic_error);
  const Image<Rgb8> whole(4, 3, grey(0));
  EXPECT_THROW(interpolate_outliers(map.view(), labels.view(), whole.view(), other.view()), std::logic_error);
  EXPECT_THROW(invalidate_small_segments(map.view(), few.view()), std::logic_error);
  EXPECT_THROW(extend_surfaces(map.view(), few.view(), 0, 2), std::logic_error);
  EXPECT_THROW(extend_surfaces(map.view(), labels.view(), 0, 0), std::logic_error);
  EXPECT_THROW(adjust_discontinuities(map.view(), costs.view(), 0), std::logic_error);
  EXPECT_THROW(enhance_subpixel(map.view(), costs.view(), 0), std::logic_error);
}

}  // namespace
}  // namespace recon
