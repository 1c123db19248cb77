#include "optimize/scanline/scanline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "optimize/scanline/scanline_step.hpp"
#include "reference/ad_census_reference.hpp"
#include "reference/blocky_colours.hpp"

namespace recon {
namespace {

using reference::blocky_colours;
using reference::FloatVolume;
constexpr float kNone = std::numeric_limits<float>::infinity();

/// A volume whose padding is NaN: it must not affect any result.
Volume<float> poisoned(int width, int planes, int height) {
  Volume<float> volume(width, planes, height);
  const auto view = volume.view();
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < planes; ++d)
      for (std::ptrdiff_t x = 0; x < view.pitch; ++x) view.row(y, d)[x] = std::nanf("");
  return volume;
}

FloatVolume random_costs(int width, int height, int planes, double share_without) {
  std::mt19937 random(static_cast<unsigned>(width * 31 + planes));
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  FloatVolume costs(width, height, planes);
  for (float& cost : costs.values) cost = uniform(random) < share_without ? kNone : 2 * uniform(random);
  return costs;
}

TEST(ScanlineStep, PenaltiesOfTheFourCases) {
  const ScanlineOptions options{1.0f, 3.0f, 15};
  EXPECT_EQ(scanline_penalties(options, false, false).p1, 1.0f);
  EXPECT_EQ(scanline_penalties(options, false, false).p2, 3.0f);
  EXPECT_EQ(scanline_penalties(options, true, false).p1, 0.25f);
  EXPECT_EQ(scanline_penalties(options, false, true).p2, 0.75f);
  EXPECT_EQ(scanline_penalties(options, true, true).p1, 0.1f);
  EXPECT_EQ(scanline_penalties(options, true, true).p2, 0.3f);
}

TEST(ScanlineStep, EachTermOfTheMinimum) {
  const ScanlinePenalties penalties{1.0f, 3.0f};
  EXPECT_EQ(scanline_cost(0.5f, 4.0f, 9.0f, 9.0f, 2.0f, penalties), 2.5f) << "same plane";
  EXPECT_EQ(scanline_cost(0.5f, 9.0f, 2.0f, 9.0f, 2.0f, penalties), 1.5f) << "plane below";
  EXPECT_EQ(scanline_cost(0.5f, 9.0f, 9.0f, 2.5f, 2.0f, penalties), 2.0f) << "plane above";
  EXPECT_EQ(scanline_cost(0.5f, 9.0f, 9.0f, 9.0f, 2.0f, penalties), 3.5f) << "any plane";
  EXPECT_EQ(scanline_cost(0.5f, kNone, kNone, kNone, kNone, penalties), 0.5f) << "no path before";
}

TEST(Scanline, ThreeByOneByHand) {
  // Planes 0 and 1 of three pixels, no edge; each path by hand; the two along columns equal the costs.
  const float given[3][2] = {{0.0f, 2.0f}, {2.0f, 0.5f}, {1.0f, 1.0f}};
  Volume<float> costs(3, 2, 1), mean(3, 2, 1);
  for (int x = 0; x < 3; ++x)
    for (int d = 0; d < 2; ++d) costs.view()(x, 0, d) = given[x][d];
  Image<Rgb8> image(3, 1, Rgb8{9, 9, 9});
  optimize_scanlines(costs.view(), image.view(), {}, {}, mean.view());
  // To the right: (0, 2), (2 + 0, 0.5 + 1), (1 + 0.5, 1 + 0). To the left: (1, 1), (2 + 0, 0.5 + 0) and
  // (0 + min(2, 0.5 + 1) - 0.5, 2 + 0).
  const float expected[3][2] = {{(0 + 1.0f) / 4, (2 + 2.0f) / 4},
                                {(2.0f + 2.0f + 4) / 4, (1.5f + 0.5f + 1) / 4},
                                {(1.5f + 1 + 2) / 4, (1.0f + 1 + 2) / 4}};
  for (int x = 1; x < 3; ++x)
    for (int d = 0; d < 2; ++d) EXPECT_FLOAT_EQ(mean.view()(x, 0, d), expected[x][d]) << x << " " << d;
  EXPECT_FLOAT_EQ(mean.view()(0, 0, 0), 0.25f);
  EXPECT_FLOAT_EQ(mean.view()(0, 0, 1), (2.0f + 2.0f + 4.0f) / 4);
}

struct ScanlineShape {
  int width, height, planes, min_disparity;
  bool other;
  PairSide side;
  double share_without;
};

class ScanlineOptimizer : public testing::TestWithParam<ScanlineShape> {};

TEST_P(ScanlineOptimizer, EqualsTheTextbook) {
  const ScanlineShape& shape = GetParam();
  const FloatVolume costs = random_costs(shape.width, shape.height, shape.planes, shape.share_without);
  const Image<Rgb8> image = blocky_colours(shape.width, shape.height, 3);
  const Image<Rgb8> second = blocky_colours(shape.width, shape.height, 4);
  Volume<float> given = poisoned(shape.width, shape.planes, shape.height);
  for (int y = 0; y < shape.height; ++y)
    for (int d = 0; d < shape.planes; ++d)
      for (int x = 0; x < shape.width; ++x) given.view()(x, y, d) = costs(x, y, d);
  ScanlineView other;
  reference::ScanlineViews views{image.view(), {}, 0, -1};
  if (shape.other) {
    other = {second.view(), shape.side, shape.min_disparity};
    const bool left = shape.side == PairSide::kLeft;
    views = {image.view(), second.view(), left ? -shape.min_disparity : shape.min_disparity, left ? -1 : 1};
  }
  const FloatVolume expected = reference::scanline_costs(costs, views, {});
  for (const int threads : {1, 3}) {
    Volume<float> mean = poisoned(shape.width, shape.planes, shape.height);
    ThreadLimit(threads).run([&] { optimize_scanlines(given.view(), image.view(), other, {}, mean.view()); });
    for (int y = 0; y < shape.height; ++y)
      for (int d = 0; d < shape.planes; ++d)
        for (int x = 0; x < shape.width; ++x)
          ASSERT_EQ(mean.view()(x, y, d), expected(x, y, d)) << x << " " << y << " " << d;
  }
}

constexpr PairSide kLeft = PairSide::kLeft, kRight = PairSide::kRight;
INSTANTIATE_TEST_SUITE_P(
    Shapes, ScanlineOptimizer,
    testing::Values(
        ScanlineShape{1, 1, 1, 0, true, kLeft, 0}, ScanlineShape{1, 1, 7, 0, true, kRight, 0},
        ScanlineShape{1, 23, 16, 0, true, kLeft, 0}, ScanlineShape{41, 1, 7, 2, true, kRight, 0},
        ScanlineShape{33, 17, 1, 0, true, kLeft, 0}, ScanlineShape{33, 17, 7, -3, true, kLeft, 0},
        ScanlineShape{33, 17, 7, -3, true, kRight, 0}, ScanlineShape{33, 17, 16, 0, false, kLeft, 0},
        ScanlineShape{33, 17, 100, 0, true, kLeft, 0}, ScanlineShape{131, 19, 16, 5, true, kLeft, 0},
        ScanlineShape{131, 19, 33, 0, true, kRight, 0}, ScanlineShape{70, 21, 16, 1, true, kLeft, 0.3},
        ScanlineShape{70, 21, 2, 1, false, kLeft, 0.7}, ScanlineShape{64, 8, 512, -200, true, kRight, 0}));

TEST(Scanline, RefusesWhatDoesNotFit) {
  Volume<float> costs(4, 2, 3), mean(4, 2, 3), smaller(4, 1, 3);
  Image<Rgb8> image(4, 3, Rgb8{0, 0, 0}), narrow(3, 3, Rgb8{0, 0, 0}), low(4, 2, Rgb8{0, 0, 0});
  EXPECT_THROW(optimize_scanlines(costs.view(), narrow.view(), {}, {}, mean.view()), std::logic_error);
  EXPECT_THROW(optimize_scanlines(costs.view(), image.view(), {low.view(), kLeft, 0}, {}, mean.view()),
               std::logic_error);
  EXPECT_THROW(optimize_scanlines(costs.view(), image.view(), {}, {}, smaller.view()), std::logic_error);
  EXPECT_THROW(optimize_scanlines(costs.view(), image.view(), {}, {2.0f, 1.0f, 15}, mean.view()),
               std::logic_error);
}

}  // namespace
}  // namespace recon
