#include "match/ad_census.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_cases.hpp"
#include "reference/aggregation_reference.hpp"

namespace recon {
namespace {

using reference::ColourViews;
using reference::describe;
using reference::kVolumeShapes;
using reference::near;
using reference::poisoned;
using reference::random_colours;
using reference::VolumeShape;

/// Single-precision error of a sum of two numbers below 1, each with an error of expf.
constexpr double kFloatBound = 1e-6;

ColourViews views_of(const ColourPair& pair, PairSide side, int min_disparity) {
  if (side == PairSide::kLeft) return {pair.left, pair.right, -1, min_disparity};
  return {pair.right, pair.left, 1, min_disparity};
}

TEST(AdCensusStep, ByHand) {
  const Rgb8 p{10, 200, 30}, q{13, 190, 30};
  EXPECT_EQ(channel_sum(p, q), 13);
  EXPECT_EQ(channel_sum(q, p), 13);
  EXPECT_EQ(max_difference(p, q), 10);
  EXPECT_EQ(max_difference({0, 0, 0}, {1, 2, 255}), 255);
  EXPECT_FLOAT_EQ(mean_difference(12), 4.0f);
  EXPECT_EQ(grey_of({255, 255, 255}), 255);
  EXPECT_EQ(grey_of({10, 200, 30}), 124);  // 2.99 + 117.4 + 3.42 = 123.81
  EXPECT_EQ(saturated(0, 10), 0.0f);
  EXPECT_FLOAT_EQ(saturated(30, 30), static_cast<float>(1 - std::exp(-1.0)));
  const CostTables tables = ad_census_tables({5, 15});
  EXPECT_FLOAT_EQ(tables.by_bits[30], static_cast<float>(1 - std::exp(-2.0)));
  EXPECT_FLOAT_EQ(tables.by_sum[15], static_cast<float>(1 - std::exp(-1.0))) << "the mean of three channels";
}

TEST(ColourDifference, OneRowByHand) {
  Image<Rgb8> left(3, 1), right(3, 1);
  for (int x = 0; x < 3; ++x) {
    const auto level = static_cast<std::uint8_t>(30 * x);
    left(x, 0) = {level, level, level};
    right(x, 0) = {static_cast<std::uint8_t>(level + 3), level, level};
  }
  Volume<float> costs = poisoned(3, 2, 1);
  colour_difference_costs({left.view(), right.view()}, PairSide::kLeft, 0, 25, costs.view());
  // Disparity 0: 3 / 3; disparity 1: column 0 matches its nearest column, the others their left neighbour.
  for (int x = 0; x < 3; ++x) EXPECT_EQ(costs.view()(x, 0, 0), 1.0f);
  EXPECT_EQ(costs.view()(0, 0, 1), 1.0f);
  EXPECT_EQ(costs.view()(1, 0, 1), 25.0f) << "capped: (27 + 30 + 30) / 3 = 29";
  colour_difference_costs({left.view(), right.view()}, PairSide::kRight, 0, 255, costs.view());
  EXPECT_EQ(costs.view()(0, 0, 1), 29.0f) << "right column 0 meets left column 1";
  EXPECT_EQ(costs.view()(2, 0, 1), 1.0f);
}

TEST(PairCosts, EqualTheTextbook) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes) {
    const Image<Rgb8> left = random_colours(shape.width, shape.height, ++seed),
                      right = random_colours(shape.width, shape.height, ++seed);
    const ColourPair pair{left.view(), right.view()};
    for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
      const ColourViews views = views_of(pair, side, shape.min_disparity);
      Volume<float> costs = poisoned(shape.width, shape.planes, shape.height);
      colour_difference_costs(pair, side, shape.min_disparity, 40, costs.view());
      EXPECT_TRUE(near(costs.view(), reference::colour_differences(views, shape.planes, 40).view(), 0))
          << describe(shape);
      costs = poisoned(shape.width, shape.planes, shape.height);
      ad_census_costs(pair, side, shape.min_disparity, {10, 30}, costs.view());
      EXPECT_TRUE(near(costs.view(), reference::ad_census(views, shape.planes, 10, 30).view(), kFloatBound))
          << describe(shape);
    }
  }
}

TEST(PairCosts, BothViewsAgreeWhereBothSee) {
  const Image<Rgb8> left = random_colours(40, 12, 5), right = random_colours(40, 12, 6);
  const ColourPair pair{left.view(), right.view()};
  Volume<float> of_left = poisoned(40, 9, 12), of_right = poisoned(40, 9, 12);
  ad_census_costs(pair, PairSide::kLeft, 1, {}, of_left.view());
  ad_census_costs(pair, PairSide::kRight, 1, {}, of_right.view());
  for (int y = 0; y < 12; ++y)
    for (int d = 0; d < 9; ++d)
      for (int x = 1 + d; x < 40; ++x)
        EXPECT_EQ(of_left.view()(x, y, d), of_right.view()(x - 1 - d, y, d)) << x << " " << y << " " << d;
}

TEST(PairCosts, SameBitsForAnyNumberOfThreads) {
  const Image<Rgb8> left = random_colours(61, 23, 8), right = random_colours(61, 23, 9);
  Volume<float> first;
  for (const int threads : {1, 2, 5}) {
    Volume<float> costs = poisoned(61, 12, 23);
    ThreadLimit(threads).run([&] {
      ad_census_costs({left.view(), right.view()}, PairSide::kLeft, 0, {}, costs.view());
    });
    if (threads == 1)
      first = std::move(costs);
    else
      EXPECT_TRUE(near(costs.view(), first.view(), 0));
  }
}

TEST(PairCosts, RefuseWhatDoesNotFit) {
  const Image<Rgb8> image = random_colours(8, 4, 1), narrow = random_colours(7, 4, 1);
  Volume<float> costs(8, 2, 4), small(8, 2, 3);
  const ColourPair pair{image.view(), image.view()};
  EXPECT_THROW(ad_census_costs({image.view(), narrow.view()}, PairSide::kLeft, 0, {}, costs.view()),
               std::logic_error);
  EXPECT_THROW(ad_census_costs(pair, PairSide::kLeft, 0, {}, small.view()), std::logic_error);
  EXPECT_THROW(ad_census_costs(pair, PairSide::kLeft, 0, {0, 30}, costs.view()), std::logic_error);
  EXPECT_THROW(ad_census_costs(pair, PairSide::kLeft, 0, {10, NAN}, costs.view()), std::logic_error);
  EXPECT_THROW(colour_difference_costs(pair, PairSide::kLeft, 0, 0, costs.view()), std::logic_error);
}

Image<Rgb8> grey_row(std::initializer_list<int> levels) {
  Image<Rgb8> row(static_cast<int>(levels.size()), 1);
  int x = 0;
  for (const int level : levels) {
    const auto v = static_cast<std::uint8_t>(level);
    row(x++, 0) = {v, v, v};
  }
  return row;
}

TEST(CrossArms, ByHand) {
  // From 0: 5 and 9 are similar; 11 is beyond L2 = 2, where the threshold is 10.
  const Image<Cross> arms = cross_arms(grey_row({0, 5, 9, 11, 4}).view(), {5, 2, 20, 10});
  EXPECT_EQ(arms(0, 0).right, 2);
  EXPECT_EQ(arms(0, 0).left, 0);
  EXPECT_EQ(arms(1, 0).right, 3);
  EXPECT_EQ(arms(4, 0).left, 4) << "L1 = 5 ends it where the image does";
  EXPECT_EQ(arms(4, 0).up, 0);
  const Image<Cross> shorter = cross_arms(grey_row({0, 5, 9, 11, 4}).view(), {4, 4, 20, 10});
  EXPECT_EQ(shorter(4, 0).left, 3) << "an arm stays shorter than L1";
  // 0 and 15 are similar, but 25 lies between them.
  EXPECT_EQ(cross_arms(grey_row({10, 25, 5, 10}).view(), {9, 9, 20, 6})(0, 0).right, 1);
}

TEST(CrossArms, EqualTheTextbook) {
  std::uint32_t seed = 50;
  for (const VolumeShape& shape : kVolumeShapes) {
    const Image<Rgb8> image = random_colours(shape.width, shape.height, ++seed);
    for (const CrossOptions& o : {CrossOptions{}, CrossOptions{9, 3, 40, 9}, CrossOptions{1, 0, 256, 256},
                                  CrossOptions{256, 256, 256, 256}, CrossOptions{20, 0, 0, 5}}) {
      const Image<Cross> arms = cross_arms(image.view(), o);
      for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
          const reference::Arms expected =
              reference::arms_of(image.view(), x, y, {o.reach, o.near_reach, o.colour, o.strict_colour});
          ASSERT_EQ(arms(x, y).left, expected.left) << describe(shape) << ": " << x << ", " << y;
          ASSERT_EQ(arms(x, y).right, expected.right) << describe(shape) << ": " << x << ", " << y;
          ASSERT_EQ(arms(x, y).up, expected.up) << describe(shape) << ": " << x << ", " << y;
          ASSERT_EQ(arms(x, y).down, expected.down) << describe(shape) << ": " << x << ", " << y;
        }
    }
  }
  EXPECT_THROW(cross_arms(random_colours(3, 3, 1).view(), {0, 1, 1, 1}), std::logic_error);
  EXPECT_THROW(cross_arms(random_colours(3, 3, 1).view(), {257, 1, 1, 1}), std::logic_error);
}

}  // namespace
}  // namespace recon
