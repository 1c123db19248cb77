// The stages of a pipeline on the GPU against the textbook and against the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "cuda/pipeline_calls.hpp"
#include "cuda/pipeline_shapes.hpp"
#include "match/cross_arms.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "reference/ad_census_reference.hpp"
#include "reference/blocky_colours.hpp"
#include "refine/depth_filters.hpp"
#include "refine/surface_step.hpp"

namespace recon {
namespace {

using reference::blocky_colours;
using reference::FloatVolume;
using test::GreyImages;
using test::same_image;
using test::Shape;
using test::shapes;

constexpr float kNone = std::numeric_limits<float>::infinity();

FloatVolume random_costs(const Shape& shape) {
  std::mt19937 random(static_cast<unsigned>(shape.width * 31 + shape.range.count));
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  FloatVolume costs(shape.width, shape.height, shape.range.count);
  for (float& cost : costs.values) cost = uniform(random) < shape.share_without ? kNone : 2 * uniform(random);
  return costs;
}

Volume<float> volume_of(const FloatVolume& costs) {
  Volume<float> volume(costs.width, costs.planes, costs.height);
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d)
      for (int x = 0; x < costs.width; ++x) volume.view()(x, y, d) = costs(x, y, d);
  return volume;
}

::testing::AssertionResult same_volume(const Volume<float>& a, const Volume<float>& b) {
  for (int y = 0; y < a.height(); ++y)
    for (int d = 0; d < a.planes(); ++d)
      for (int x = 0; x < a.width(); ++x)
        if (const float p = a.view()(x, y, d), q = b.view()(x, y, d); !(p == q))
          return ::testing::AssertionFailure()
                 << "(" << x << ", " << y << ") plane " << d << ": " << p << " and " << q;
  return ::testing::AssertionSuccess();
}

class CudaPipelineStage : public test::GpuTest<::testing::TestWithParam<Shape>> {
 protected:
  /// Disparities in steps, some of them wrong and some unknown.
  Image<float> random_map() {
    const Shape& shape = GetParam();
    Image<float> map(shape.width, shape.height);
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) {
        const int flat = (x / 5 + y / 7) * 3 % shape.range.count;
        const auto chance = random_() % 10;
        const int any = static_cast<int>(random_() % static_cast<unsigned>(shape.range.count));
        map(x, y) = chance == 0 ? kUnknown : static_cast<float>(shape.range.min + (chance < 3 ? any : flat));
      }
    return map;
  }
  std::mt19937 random_{7};
};

TEST_P(CudaPipelineStage, CostsAreTheCpus) {
  const Shape& shape = GetParam();
  const Image<Rgb8> left = blocky_colours(shape.width, shape.height, 3),
                    right = blocky_colours(shape.width, shape.height, 4);
  const ColourPair pair{left.view(), right.view()};
  const int min = shape.range.min;
  Volume<float> expected(shape.width, shape.range.count, shape.height);
  MethodSpec options;
  for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
    options.cost.kind = CostKind::kAdCensus;
    ad_census_costs(pair, side, min, options.cost.ad_census, expected.view());
    EXPECT_TRUE(same_volume(expected, test::colour_costs(pair, side, shape.range, options.cost)));
    options.cost.kind = CostKind::kColourDifference;
    options.cost.colour_cap = 9.5f;
    colour_difference_costs(pair, side, min, options.cost.colour_cap, expected.view());
    EXPECT_TRUE(same_volume(expected, test::colour_costs(pair, side, shape.range, options.cost)));
  }
}

/// Blocks whose grey levels differ by less than kMinCensusRange, but for some.
Image<Rgb8> faded_colours(int width, int height, unsigned seed) {
  Image<Rgb8> image = blocky_colours(width, height, seed);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (std::uint8_t* channel : {&image(x, y).r, &image(x, y).g, &image(x, y).b}) *channel /= 8;
  return image;
}

TEST_P(CudaPipelineStage, CostsOfTransformsAreTheCpus) {
  const Shape& shape = GetParam();
  const GreyImages images(faded_colours(shape.width, shape.height, 3),
                          faded_colours(shape.width, shape.height, 4));
  PairProblem problem{images.pair(false), {}};
  problem.options.range = shape.range;
  MethodSpec& options = problem.options;
  Volume<float> expected(shape.width, shape.range.count, shape.height);
  for (const Transform transform : {Transform::kRank, Transform::kCensus5x5, Transform::kCensus9x7,
                                    Transform::kSymmetricCensus, Transform::kScaledCensus})
    for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
      options.cost.transform.transform = transform;
      options.cost.outside_cost = 9;
      PipelineCosts(problem).fill(side, expected.view());
      EXPECT_TRUE(
          same_volume(expected, test::transform_costs(problem.images, side, shape.range, options.cost)))
          << static_cast<int>(transform);
    }
}

TEST_P(CudaPipelineStage, ScanlinesAreTheTextbooks) {
  const Shape& shape = GetParam();
  const FloatVolume costs = random_costs(shape);
  const Image<Rgb8> image = blocky_colours(shape.width, shape.height, 3),
                    second = blocky_colours(shape.width, shape.height, 4);
  for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
    const bool left = side == PairSide::kLeft;
    ScanlineView other;
    reference::ScanlineViews views{image.view(), {}, 0, -1};
    if (shape.other) {
      other = {second.view(), side, shape.range.min};
      views = {image.view(), second.view(), left ? -shape.range.min : shape.range.min, left ? -1 : 1};
    }
    const Volume<float> expected = volume_of(reference::scanline_costs(costs, views, {}));
    EXPECT_TRUE(same_volume(expected, test::scanlines(volume_of(costs).view(), image.view(), other, {})));
  }
}

TEST_P(CudaPipelineStage, TheWinnerIsTheLowestOfTheMinima) {
  const Shape& shape = GetParam();
  FloatVolume costs = random_costs(shape);
  for (float& cost : costs.values) cost = std::floor(cost * 8);  // so that there are ties
  Image<float> expected(shape.width, shape.height, kUnknown);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x)
      for (int d = shape.range.count - 1; d >= 0; --d) {
        float least = kNone;
        for (int k = 0; k < shape.range.count; ++k) least = std::min(least, costs(x, y, k));
        if (costs(x, y, d) == least && least < kNone)
          expected(x, y) = static_cast<float>(shape.range.min + d);
      }
  EXPECT_TRUE(same_image(expected, test::min_cost(volume_of(costs).view(), shape.range.min)));
}

::testing::AssertionResult same_map(const test::RepairedMap& found, const reference::LabelledMap& expected) {
  for (int y = 0; y < expected.height; ++y)
    for (int x = 0; x < expected.width; ++x) {
      const std::size_t i = expected.index(x, y);
      const float a = found.disparity(x, y), b = expected.disparity[i];
      const int label = static_cast<int>(found.outliers(x, y));
      if ((a == b || (std::isnan(a) && std::isnan(b))) && label == static_cast<int>(expected.label[i]))
        continue;
      return ::testing::AssertionFailure()
             << "(" << x << ", " << y << "): " << a << " and " << b << ", labels " << label << " and "
             << static_cast<int>(expected.label[i]);
    }
  return ::testing::AssertionSuccess();
}

TEST_P(CudaPipelineStage, OutliersAreRepairedAsInTheTextbook) {
  const Shape& shape = GetParam();
  const int min = shape.range.min, count = shape.range.count;
  const Image<float> left = random_map(), right = random_map();
  const Image<Rgb8> colours = blocky_colours(shape.width, shape.height, 5);
  const Image<Cross> crosses = cross_arms(colours.view(), {9, 4, 45, 25});
  std::vector<reference::Cross> plain;
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const Cross cross = crosses(x, y);
      plain.push_back({cross.left, cross.right, cross.up, cross.down});
    }
  const test::RepairProblem problem{left.view(),    right.view(),   {},
                                    crosses.view(), colours.view(), shape.range};
  for (const float tolerance : {0.0f, 1.0f}) {
    test::RepairSteps steps;
    steps.check = true, steps.tolerance = tolerance;
    reference::LabelledMap expected = reference::find_outliers(left.view(), right.view(), tolerance);
    EXPECT_TRUE(same_map(test::repaired(problem, steps), expected)) << "check";
    steps.votes = 3, steps.voting = {4, 0.4f, 3};
    reference::vote(expected, plain, min, count, 4, 0.4f, 3, right.view());
    EXPECT_TRUE(same_map(test::repaired(problem, steps), expected)) << "votes";
    steps.interpolate = true;
    reference::interpolate(expected, colours.view(), right.view());
    EXPECT_TRUE(same_map(test::repaired(problem, steps), expected)) << "interpolation";
  }
}

TEST_P(CudaPipelineStage, SurfacesAreTheTextbooks) {
  const Shape& shape = GetParam();
  const int min = shape.range.min, count = shape.range.count;
  Image<float> map = random_map();
  Image<Outlier> labels(shape.width, shape.height);
  reference::LabelledMap expected(shape.width, shape.height);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      // Ground that leans, with wrong pixels on it, so that surfaces of all sizes are there.
      if (random_() % 4 != 0) map(x, y) = static_cast<float>(min + std::min(x / 9 + y / 5, count - 1));
      const bool outlier = x < std::min(count, shape.width / 3) || random_() % 9 == 0;
      labels(x, y) = outlier ? Outlier::kOutlier : Outlier::kNone;
      expected.disparity[expected.index(x, y)] = map(x, y);
      expected.label[expected.index(x, y)] =
          outlier ? reference::Label::kOutlier : reference::Label::kReliable;
    }
  const test::RepairProblem problem{map.view(), map.view(), labels.view(), {}, {}, shape.range};
  test::RepairSteps steps;
  steps.min_surface = 9;
  reference::invalidate_small_segments(expected, 9);
  EXPECT_TRUE(same_map(test::repaired(problem, steps), expected));
  steps.extend = true;
  const test::RepairedMap found = test::repaired(problem, steps);
  reference::extend_surfaces(expected, min, count, kFitReach, kMinFit);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const std::size_t i = expected.index(x, y);
      ASSERT_EQ(static_cast<int>(found.outliers(x, y)), static_cast<int>(expected.label[i])) << x << " " << y;
      if (std::isnan(expected.disparity[i])) continue;
      // The textbook adds the plane in double, we in float, as the CPU does.
      ASSERT_NEAR(found.disparity(x, y), expected.disparity[i], 1e-4 * std::max(1, std::abs(min)))
          << x << " " << y;
    }
}

TEST_P(CudaPipelineStage, StepsThatLookAtCostsAreTheTextbooks) {
  const Shape& shape = GetParam();
  const int min = shape.range.min;
  FloatVolume costs = random_costs(shape);
  for (float& cost : costs.values)
    if (random_() % 8 == 0) cost = kNone;
  const Volume<float> volume = volume_of(costs);
  const Image<float> map = random_map();
  const auto image_of = [&](const std::vector<float>& values) {
    Image<float> image(shape.width, shape.height);
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x)
        image(x, y) = values[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                             static_cast<std::size_t>(x)];
    return image;
  };
  const auto steps = [&](test::MapSteps which) {
    return test::refined(map.view(), volume.view(), min, which);
  };
  const Image<float> adjusted = image_of(reference::adjust_discontinuities(map.view(), costs, min));
  EXPECT_TRUE(same_image(adjusted, steps({true, false, false})));
  const Image<float> enhanced = image_of(reference::enhance(adjusted.view(), costs, min));
  EXPECT_TRUE(same_image(enhanced, steps({true, true, false})));
  EXPECT_TRUE(same_image(median_3x3(enhanced.view()), steps({true, true, true})));
  EXPECT_TRUE(same_image(median_3x3(map.view()), steps({false, false, true})));
  EXPECT_TRUE(same_image(smoothed_disparities(enhanced.view(), disparity_bounds(min, shape.range.count)),
                         steps({true, true, false, true})));
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaPipelineStage, ::testing::ValuesIn(shapes()),
                         [](const auto& test_case) { return test_case.param.name(); });

}  // namespace
}  // namespace recon
