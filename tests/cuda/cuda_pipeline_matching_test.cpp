// Whole pipelines on the GPU against the CPU.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "cuda/gpu_test.hpp"
#include "cuda/pair_run.hpp"
#include "cuda/pipeline_shapes.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "reference/blocky_colours.hpp"
#include "reference/colour_sets.hpp"

namespace recon {
namespace {

using reference::blocky_colours;
using test::GreyImages;
using test::kPoison;
using test::same_image;
using test::Shape;
using test::shapes;

class CudaPipeline : public test::GpuTest<> {};

/// The means of the aggregation are sums in double on both sides, whose order differs; with costs that are
/// multiples of 2^-24 and means of these the sums are exact, so that the maps are equal.
::testing::AssertionResult same_as_cpu(const PairProblem& problem) {
  const Image<float> expected = match_pair(problem).disparity;
  const test::PairRun run = test::run_pair(problem, kPoison);
  if (run.planned_bytes != run.arena_bytes)
    return ::testing::AssertionFailure()
           << run.planned_bytes << " bytes planned, " << run.arena_bytes << " taken";
  return same_image(expected, run.map.disparity);
}

/// A picture of blocks, moved by a disparity that changes from block to block.
struct MovedBlocks {
  Image<Rgb8> left, right;
  GreyImages grey;

  explicit MovedBlocks(const Shape& shape)
      : left(blocky_colours(shape.width, shape.height, 6)), right(left.clone()), grey(move(shape)) {}
  PairProblem problem(const Shape& shape, const MethodSpec& options, bool words = false) const {
    return pipeline_problem(grey.pair(words), {left.view(), right.view()}, shape.range, options);
  }

 private:
  GreyImages move(const Shape& shape) {
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) {
        const int d = shape.range.min + (x / 25 + y / 9) * 3 % shape.range.count;
        if (x - d >= 0 && x - d < shape.width) left(x, y) = right(x - d, y);
      }
    return {left, right};
  }
};

TEST_F(CudaPipeline, TheSystemIsTheCpusAtOddSizes) {
  for (const Shape& shape : shapes()) {
    const MovedBlocks blocks(shape);
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, presets::ad_census()))) << shape.name();
  }
}

TEST_F(CudaPipeline, OfTransformsAndPathsIsTheCpusAtOddSizes) {
  for (const Shape& shape : shapes()) {
    const MovedBlocks blocks(shape);
    MethodSpec options = presets::ad_census();
    options.optimizer = Optimizer::kSemiGlobal;
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options))) << "AD-Census " << shape.name();
    options.cost.kind = CostKind::kTransform;
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options))) << shape.name();
    options.semi_global.paths = 4;
    options.refine = {};
    options.refine.subpixel = true;
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options, true))) << "16 bits, left only " << shape.name();
  }
}

TEST_F(CudaPipeline, OfGraphCutsIsTheCpusAtOddSizes) {
  for (const Shape& shape : shapes()) {
    if (shape.range.count > 200 || shape.width > 200) continue;  // they take the CPU long
    const MovedBlocks blocks(shape);
    MethodSpec options = presets::ad_census();
    options.refine.graph_cut = true;
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options))) << "from scanlines " << shape.name();
    options.cost.kind = CostKind::kTransform;
    options.optimizer = Optimizer::kGraphCut;
    EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options))) << shape.name();
  }
}

/// All combinations whose results are exact, each without refinement and with all of it.
TEST_F(CudaPipeline, OfEveryCostAggregationAndOptimizerIsTheCpus) {
  const Shape shape{61, 33, {-2, 14}};
  const MovedBlocks blocks(shape);
  struct Cost {
    CostKind cost;
    Transform transform = Transform::kCensus5x5;
  };
  for (const Cost& cost :
       {Cost{CostKind::kColourDifference}, Cost{CostKind::kAdCensus}, Cost{CostKind::kTransform},
        Cost{CostKind::kTransform, Transform::kCensus9x7},
        Cost{CostKind::kTransform, Transform::kSymmetricCensus},
        Cost{CostKind::kTransform, Transform::kScaledCensus}, Cost{CostKind::kTransform, Transform::kRank}})
    for (const Aggregation kind :
         {Aggregation::kNone, Aggregation::kConstantWindow, Aggregation::kCrossBased})
      for (const Optimizer optimizer :
           {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal, Optimizer::kScanline, Optimizer::kGraphCut})
        for (const bool refined : {false, true}) {
          MethodSpec options = presets::ad_census();
          if (!refined) options.refine = {};
          options.refine.graph_cut = refined;
          options.cost.kind = cost.cost;
          options.cost.transform.transform = cost.transform;
          options.aggregation.kind = kind;
          options.optimizer = optimizer;
          EXPECT_TRUE(same_as_cpu(blocks.problem(shape, options)))
              << "cost " << static_cast<int>(cost.cost) << ", transform " << static_cast<int>(cost.transform)
              << ", aggregation " << static_cast<int>(kind) << ", optimizer " << static_cast<int>(optimizer)
              << (refined ? ", refined" : "");
        }
}

TEST_F(CudaPipeline, OfTheBackendCountsTheHostsPart) {
  const Shape shape{61, 33, {-2, 14}};
  const MovedBlocks blocks(shape);
  PairProblem pair = blocks.problem(shape, presets::plain_pipeline(), true);
  const auto backend = make_cuda_backend({});
  const std::size_t without = backend->pair_memory(61, 33, pair.options).host_bytes;
  pair.options.optimizer = Optimizer::kGraphCut;
  EXPECT_GE(backend->pair_memory(61, 33, pair.options).host_bytes,
            without + Volume<float>::bytes(61, 14, 33));
  EXPECT_TRUE(same_image(match_pair(pair).disparity, backend->match(pair).disparity));
}

TEST_F(CudaPipeline, OfSingleStagesIsTheCpus) {
  const Image<Rgb8> left = blocky_colours(61, 33, 6), right = blocky_colours(61, 33, 7);
  const GreyImages grey(left, right);
  const PairProblem whole =
      pipeline_problem(grey.pair(false), {left.view(), right.view()}, {-2, 14}, presets::ad_census());
  const auto expect_same = [&](const char* what, const auto& change) {
    PairProblem problem = whole;
    change(problem.options);
    EXPECT_TRUE(same_as_cpu(problem)) << what;
  };
  expect_same("no aggregation", [](MethodSpec& o) { o.aggregation.kind = Aggregation::kNone; });
  expect_same("three iterations", [](MethodSpec& o) { o.aggregation.cross_based.iterations = 3; });
  expect_same("a constant window", [](MethodSpec& o) { o.aggregation.kind = Aggregation::kConstantWindow; });
  expect_same("no iteration", [](MethodSpec& o) { o.aggregation.cross_based.iterations = 0; });
  expect_same("winners", [](MethodSpec& o) { o.optimizer = Optimizer::kWinnerTakeAll; });
  expect_same("colours", [](MethodSpec& o) { o.cost.kind = CostKind::kColourDifference; });
  expect_same("no refinement", [](MethodSpec& o) { o.refine = {}; });
  expect_same("nothing is repaired", [](MethodSpec& o) { o.refine.vote = o.refine.interpolate = false; });
  expect_same("votes alone", [](MethodSpec& o) { o.refine.interpolate = o.refine.label_edges = false; });
  expect_same("smooth", [](MethodSpec& o) { o.refine.smooth_disparities = true; });
  expect_same("no votes", [](MethodSpec& o) { o.refine.vote = o.refine.median = false; });
  expect_same("a tolerance", [](MethodSpec& o) { o.left_right = 1.0f; });
  expect_same("nothing but winners of colours", [](MethodSpec& o) {
    o = {};
    o.cost.kind = CostKind::kColourDifference;
    o.optimizer = Optimizer::kWinnerTakeAll;
  });
}

/// Adaptive weights come from the device's fast exponentials, so that costs differ by 2e-5 of theirs: where
/// two planes are as good as each other another one may win, and what is repaired from there differs too.
constexpr double kDifferingShare = 0.02;

TEST_F(CudaPipeline, OfAdaptiveWeightsIsNearlyTheCpus) {
  const Image<Rgb8> right = blocky_colours(91, 53, 6);
  Image<Rgb8> left = right.clone();
  for (int y = 0; y < 53; ++y)
    for (int x = 5; x < 91; ++x) left(x, y) = right(x - 3 - x / 40, y);
  MethodSpec options = presets::ad_census();
  options.aggregation.kind = Aggregation::kAdaptiveWeight;
  options.aggregation.adaptive_weight.radius = 5;
  const GreyImages grey(left, right);
  const PairProblem problem =
      pipeline_problem(grey.pair(false), {left.view(), right.view()}, {0, 9}, options);
  const Image<float> expected = match_pair(problem).disparity;
  const Image<float> found = test::run_pair(problem, kPoison).map.disparity;
  int differing = 0;
  for (int y = 0; y < 53; ++y)
    for (int x = 0; x < 91; ++x) differing += !(std::abs(found(x, y) - expected(x, y)) <= 1.0f / 16);
  EXPECT_LE(differing, kDifferingShare * 91 * 53);
}

TEST_F(CudaPipeline, RefusesMissingImagesAndOptionsOutOfRange) {
  const Image<Rgb8> image = blocky_colours(9, 5, 6);
  const GreyImages grey(image, image);
  const PairProblem whole =
      pipeline_problem(grey.pair(false), {image.view(), image.view()}, {0, 4}, presets::plain_pipeline());
  const std::unique_ptr<Backend> backend = make_cuda_backend({});
  EXPECT_NO_THROW(backend->match(whole));
  PairProblem problem = whole;
  problem.images = {};
  EXPECT_THROW(backend->match(problem), std::logic_error) << "grey levels";
  problem = whole;
  problem.colour = {};
  EXPECT_THROW(backend->match(problem), std::logic_error) << "colours";
  problem = whole;
  problem.options.cost.outside_cost = 256;
  EXPECT_THROW(backend->match(problem), std::logic_error) << "the cost outside";
}

TEST_F(CudaPipeline, TheSystemIsTheCpusOnMiddleburysPairs) {
  const std::filesystem::path folder = std::filesystem::path(RECON_SHARED_DIR) / "stereo";
  for (const char* name : {"tsukuba", "venus", "teddy_quarter", "cones_quarter"}) {
    if (!std::filesystem::exists(folder / name)) GTEST_SKIP() << "no pair in " << folder / name;
    const ColourSet set = read_colour_set(folder / name);
    const ColourPair pair{set.left.view(), set.right.view()};
    const GreyImages grey(set.left, set.right);
    const DisparityRange range{0, set.grey.disparities};
    MethodSpec options = presets::ad_census();
    EXPECT_TRUE(same_as_cpu(pipeline_problem(grey.pair(false), pair, range, options))) << name;
    options.optimizer = Optimizer::kSemiGlobal;  // of cones both views take turns in the same memory
    EXPECT_TRUE(same_as_cpu(pipeline_problem(grey.pair(true), pair, range, options))) << name << ", paths";
  }
}

}  // namespace
}  // namespace recon
