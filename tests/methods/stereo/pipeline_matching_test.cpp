// Pipelines of single stages on made-up pairs: against the method that one pipeline is, against textbook
// stages put together, and every stage with every other.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "core/parallel.hpp"
#include "methods/stereo/coloured_pair.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_stages.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "reference/ad_census_reference.hpp"
#include "reference/aggregation_reference.hpp"
#include "reference/semi_global_problems.hpp"

namespace recon {
namespace {

void expect_same(const Image<float>& a, const Image<float>& b, const std::string& what) {
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      ASSERT_TRUE(a(x, y) == b(x, y) || (std::isnan(a(x, y)) && std::isnan(b(x, y))))
          << what << " at " << x << " " << y << ": " << a(x, y) << ", " << b(x, y);
}

TEST(PipelineMatching, OfATransformAndPathsIsSemiGlobalMatching) {
  for (const bool deep : {false, true})
    for (const TransformOptions transform :
         {TransformOptions{Transform::kCensus5x5}, TransformOptions{Transform::kScaledCensus},
          TransformOptions{Transform::kRank, 7}}) {
      reference::OwnedPair grey = reference::random_pair(75, 33, {-2, 19}, 7, deep, 0.05);
      grey.problem.options.cost.transform = transform;
      grey.problem.options.uniqueness = 0;
      grey.problem.options.refine.left_right = grey.problem.options.refine.median = false;
      grey.problem.options.refine.smooth_disparities = false;
      const Image<float> method = match_pair(grey.problem).disparity;
      MethodSpec options = presets::plain_pipeline();
      options.cost.transform = transform;
      options.refine.subpixel = true;
      const ColouredPair pair = coloured_pair(std::move(grey));
      expect_same(match_pair(pair.problem(options)).disparity, method, "pipeline");
    }
}

TEST(PipelineMatching, BothViewsSeeTheSameTransformCosts) {
  const ColouredPair pair = coloured_pair(reference::random_pair(70, 9, {-5, 23}, 2, false, 0.05));
  MethodSpec spec = presets::plain_pipeline();
  spec.cost.transform.transform = Transform::kScaledCensus;
  const PairProblem problem = pair.problem(spec);
  const PipelineCosts costs(problem);
  Volume<float> left(70, 23, 9), right(70, 23, 9);
  costs.fill(PairSide::kLeft, left.view());
  costs.fill(PairSide::kRight, right.view());
  for (int y = 0; y < 9; ++y)
    for (int d = 0; d < 23; ++d)
      for (int x = 0; x < 70; ++x) {
        const int met = x - 5 + d;
        const float expected = met >= 0 && met < 70 ? left.view()(met, y, d) : 8.0f;
        ASSERT_EQ(right.view()(x, y, d), expected) << x << " " << y << " " << d;
      }
}

/// What the exact sums of the aggregation count on.
TEST(PipelineCosts, AreWithinTheirMax) {
  // Black and white stripes, which meet each other and themselves.
  ColouredPair pair = coloured_pair(reference::random_pair(70, 19, {-5, 23}, 2));
  for (int y = 0; y < 19; ++y)
    for (int x = 0; x < 70; ++x) {
      const std::uint8_t left = x / 9 % 2 == 0 ? 0 : 255, right = x / 7 % 2 == 0 ? 255 : 0;
      pair.left(x, y) = {left, left, left}, pair.right(x, y) = {right, right, right};
      pair.grey.left(x, y) = left, pair.grey.right(x, y) = right;
    }
  std::vector<MethodSpec> all;
  const auto add = [&](CostKind kind) -> CostOptions& {
    all.push_back(presets::plain_pipeline());
    all.back().cost.kind = kind;
    return all.back().cost;
  };
  for (const float cap : {0.1f, 9.5f, 255.0f, 300.0f}) add(CostKind::kColourDifference).colour_cap = cap;
  add(CostKind::kAdCensus).ad_census = {0.01f, 0.01f};
  for (const TransformOptions transform :
       {TransformOptions{Transform::kCensus5x5}, TransformOptions{Transform::kCensus9x7},
        TransformOptions{Transform::kRank, 3}, TransformOptions{Transform::kRank, 9}})
    for (const int outside : {0, 255}) {
      CostOptions& cost = add(CostKind::kTransform);
      cost.transform = transform;
      cost.outside_cost = outside;
    }
  for (const MethodSpec& options : all) {
    const PairProblem problem = pair.problem(options);
    const PipelineCosts costs(problem);
    const float max = max_cost(options.cost);
    float seen = 0;
    for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
      Volume<float> volume(70, 23, 19);
      costs.fill(side, volume.view());
      for (int y = 0; y < 19; ++y)
        for (int d = 0; d < 23; ++d)
          for (int x = 0; x < 70; ++x) {
            ASSERT_TRUE(volume.view()(x, y, d) >= 0 && volume.view()(x, y, d) <= max)
                << name_of(options) << ": " << volume.view()(x, y, d) << ", max " << max;
            seen = std::max(seen, volume.view()(x, y, d));
          }
    }
    EXPECT_GE(seen, max / 8) << name_of(options) << ": the case is too tame";
  }
}

TEST(PipelineMatching, WinnersAreThoseOfTheTextbook) {
  const DisparityRange range{-3, 16};
  const ColouredPair pair = coloured_pair(reference::random_pair(47, 23, range, 5));
  const reference::ColourViews views{pair.left.view(), pair.right.view(), -1, range.min};
  MethodSpec options = presets::plain_pipeline();
  options.cost.kind = CostKind::kColourDifference;
  options.optimizer = Optimizer::kWinnerTakeAll;
  options.aggregation.constant_radius = 3;
  options.aggregation.adaptive_weight.radius = 3;
  const Volume<float> given = reference::colour_differences(views, range.count, options.cost.colour_cap);
  const AggregationOptions& by = options.aggregation;
  const CrossOptions& arms = by.cross;
  // Costs up to 20 are rounded to 2^-13, by half of that at most: of the winner and of the least one.
  constexpr float kRounded = 0x1p-13f;
  const auto compare = [&](Aggregation kind, const Volume<float>& expected, float bound) {
    options.aggregation.kind = kind;
    const Image<float> map = match_pair(pair.problem(options)).disparity;
    for (int y = 0; y < 23; ++y)
      for (int x = 0; x < 47; ++x) {
        float least = expected.view()(x, y, 0);
        for (int d = 1; d < range.count; ++d) least = std::min(least, expected.view()(x, y, d));
        ASSERT_NEAR(expected.view()(x, y, static_cast<int>(map(x, y)) - range.min), least, bound)
            << name_of(options) << " at " << x << " " << y;
      }
  };
  compare(Aggregation::kNone, given, 1e-4f);
  compare(Aggregation::kConstantWindow, reference::constant_window(given.view(), 3), kRounded + 1e-5f);
  compare(
      Aggregation::kAdaptiveWeight,
      reference::adaptive_weight(views, given.view(), 3, static_cast<double>(by.adaptive_weight.gamma_colour),
                                 static_cast<double>(by.adaptive_weight.gamma_space)),
      1e-4f);
  compare(Aggregation::kCrossBased,
          reference::cross_based(views, given.view(),
                                 {arms.reach, arms.near_reach, arms.colour, arms.strict_colour},
                                 by.cross_based.iterations),
          static_cast<float>(by.cross_based.iterations) * kRounded + 1e-5f);
}

TEST(PipelineMatching, EveryStageWithEveryOtherFindsAMovedPicture) {
  for (const int disparity : {-2, 3}) {
    const ColouredPair pair = moved_pair(45, 25, {-4, 11}, disparity);
    for (MethodSpec options : all_pipelines()) {
      // Whole pictures are one surface: little has to be smoothed.
      options.graph_cut.smoothness = 0.1f;
      Refinement& steps = options.refine;
      steps.left_right = steps.vote = steps.interpolate = steps.label_edges = steps.subpixel = steps.median =
          true;
      const DisparityMap map = match_pair(pair.problem(options));
      int wrong = 0;
      for (int y = 0; y < 25; ++y)
        for (int x = 0; x < 45; ++x)
          wrong += !(std::abs(map.disparity(x, y) - static_cast<float>(disparity)) <= 0.5f);
      // A window that looks over the border sees the other side of the picture, or none.
      EXPECT_LE(wrong, 45 * 25 / 20) << name_of(options) << ", disparity " << disparity;
    }
  }
}

TEST(PipelineMatching, TheSameOnAnyNumberOfThreads) {
  const ColouredPair pair = coloured_pair(reference::random_pair(53, 21, {-1, 13}, 9));
  for (MethodSpec options : all_pipelines()) {
    Refinement& steps = options.refine;
    steps.graph_cut = steps.left_right = steps.vote = steps.subpixel = true;
    const auto on = [&](int threads) {
      return ThreadLimit(threads).run([&] { return match_pair(pair.problem(options)).disparity; });
    };
    expect_same(on(1), on(3), name_of(options));
  }
}

TEST(PipelineMatching, TinyImagesAndRangesBeyondThem) {
  for (const auto& [width, height, min, count] :
       {std::array{1, 1, 0, 1}, std::array{1, 9, -2, 3}, std::array{9, 1, 0, 100}, std::array{3, 2, 5, 16}}) {
    const ColouredPair pair = coloured_pair(reference::random_pair(width, height, {min, count}, 3));
    for (MethodSpec options : all_pipelines()) {
      options.refine.label_edges = options.refine.subpixel = options.refine.median = true;
      const DisparityMap map = match_pair(pair.problem(options));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          ASSERT_GE(map.disparity(x, y), static_cast<float>(min) - 0.5f) << name_of(options);
          ASSERT_LE(map.disparity(x, y), static_cast<float>(min + count) - 0.5f) << name_of(options);
        }
    }
  }
}

TEST(PipelineMatching, OutliersThatNothingRepairsBecomeUnknown) {
  const DisparityRange range{0, 12};
  const ColouredPair pair = coloured_pair(reference::random_pair(60, 31, range, 6));
  MethodSpec options = presets::plain_pipeline();
  options.cost.kind = CostKind::kColourDifference;
  options.optimizer = Optimizer::kWinnerTakeAll;
  const Image<float> left = match_pair(pair.problem(options)).disparity;
  Volume<float> costs(60, range.count, 31);
  colour_difference_costs({pair.left.view(), pair.right.view()}, PairSide::kRight, 0, options.cost.colour_cap,
                          costs.view());
  Image<float> right(60, 31, 0.0f);
  for (int y = 0; y < 31; ++y)
    for (int x = 0; x < 60; ++x)
      for (int d = 1; d < range.count; ++d)
        if (costs.view()(x, y, d) < costs.view()(x, y, static_cast<int>(right(x, y))))
          right(x, y) = static_cast<float>(d);
  const reference::LabelledMap labels = reference::find_outliers(left.view(), right.view(), 0.0f);
  options.refine.left_right = true;
  const Image<float> checked = match_pair(pair.problem(options)).disparity;
  options.refine.interpolate = true;
  const Image<float> filled = match_pair(pair.problem(options)).disparity;
  for (int y = 0; y < 31; ++y)
    for (int x = 0; x < 60; ++x) {
      ASSERT_FALSE(std::isnan(left(x, y)) || std::isnan(filled(x, y)));
      const bool reliable = labels.label[labels.index(x, y)] == reference::Label::kReliable;
      ASSERT_EQ(std::isnan(checked(x, y)), !reliable) << x << " " << y;
      if (reliable) {
        ASSERT_EQ(checked(x, y), left(x, y));
      }
    }
}

TEST(PipelineMatching, TheGraphCutIsAnOptimizerAndARefinement) {
  const ColouredPair pair = coloured_pair(reference::random_pair(40, 20, {0, 9}, 8));
  MethodSpec options = presets::plain_pipeline();
  options.optimizer = Optimizer::kWinnerTakeAll;
  const Image<float> winners = match_pair(pair.problem(options)).disparity;
  options.refine.graph_cut = true;
  const Image<float> refined = match_pair(pair.problem(options)).disparity;
  options.refine.graph_cut = false;
  options.optimizer = Optimizer::kGraphCut;
  expect_same(match_pair(pair.problem(options)).disparity, refined, "graph cut");
  int changed = 0;
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) changed += refined(x, y) != winners(x, y);
  EXPECT_GT(changed, 0);
}

/// A device leaves the cut to the host, with the disparities that it has selected.
TEST(PipelineMatching, TheGraphCutIsTheSameOverDisparitiesOfElsewhere) {
  const ColouredPair pair = coloured_pair(reference::random_pair(40, 20, {-3, 9}, 8));
  MethodSpec options = presets::plain_pipeline();
  options.optimizer = Optimizer::kWinnerTakeAll;
  options.refine.graph_cut = true;
  const PairProblem problem = pair.problem(options);
  const DisparityRange range = problem.options.range;
  options.refine.graph_cut = false;
  Image<float> disparity = match_pair(pair.problem(options)).disparity;
  Volume<float> costs(40, range.count, 20);
  PipelineCosts(problem).fill(PairSide::kLeft, costs.view());
  cut_disparities(problem.options, costs.view(), problem.images.left, disparity.view());
  expect_same(disparity, match_pair(problem).disparity, "cut");
  disparity(7, 5) = std::nanf("");
  cut_disparities(problem.options, costs.view(), problem.images.left, disparity.view());
  EXPECT_TRUE(std::isnan(disparity(7, 5))) << "unknown pixels stay unknown";
}

/// A method alone is no pair: the range would be empty.
static_assert(!std::is_convertible_v<MethodSpec, PairSpec>);

/// Where no window leaves the images: block matching repeats their borders, a constant window ends there.
TEST(PipelineMatching, OfDifferencesAndAWindowIsBlockMatching) {
  const DisparityRange range{2, 17};
  ColouredPair pair = coloured_pair(reference::random_pair(90, 41, range, 11));
  for (auto& [colour, grey] : {std::pair{&pair.left, &pair.grey.left}, {&pair.right, &pair.grey.right}})
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 90; ++x) {
        const std::uint8_t g = (*grey)(x, y);
        (*colour)(x, y) = {g, g, g};
      }
  for (const int radius : {1, 3}) {
    MethodSpec stages = presets::plain_pipeline(), whole = presets::block_matching();
    stages.cost.kind = CostKind::kColourDifference;
    stages.cost.colour_cap = 255;
    stages.aggregation.kind = Aggregation::kConstantWindow;
    stages.aggregation.constant_radius = whole.block.radius = radius;
    stages.optimizer = Optimizer::kWinnerTakeAll;
    whole.block.prefilter = BlockPrefilter::kNone;
    whole.block.subpixel = whole.block.median = false;
    whole.block.uniqueness = 0;
    whole.block.left_right = -1;
    const Image<float> a = match_pair(pair.problem(stages)).disparity,
                       b = match_pair(pair.problem(whole)).disparity;
    for (int y = radius; y < 41 - radius; ++y)
      for (int x = range.min + range.count + radius; x < 90 - radius; ++x)
        ASSERT_EQ(a(x, y), b(x, y)) << "radius " << radius << " at " << x << " " << y;
  }
}

TEST(PipelineMatching, RefusesWhatDoesNotFit) {
  const ColouredPair pair = coloured_pair(reference::random_pair(9, 5, {0, 4}, 1));
  const auto refused = [&](const auto& change) {
    PairProblem problem = pair.problem(presets::plain_pipeline());
    change(problem);
    EXPECT_THROW(match_pair(problem), std::logic_error);
  };
  refused([](PairProblem& p) { p.options.refine.vote = true; });
  refused([](PairProblem& p) { p.options.refine.interpolate = true; });
  refused([](PairProblem& p) { p.images = {}; });
  refused([](PairProblem& p) { p.colour.right = {}; });
  refused([](PairProblem& p) { p.options.range.count = 0; });
  refused([](PairProblem& p) { p.options.cost.outside_cost = 256; });
  refused([](PairProblem& p) { p.options.semi_global.p1 = 9000; });
}

}  // namespace
}  // namespace recon
