#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "cuda/sweep_run.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "reference/sweep_problems.hpp"

/// Sweeps whose costs are stored, against the CPU's, which are tested against textbooks.

namespace recon {
namespace {

struct VolumeCase {
  std::string name;
  Aggregation aggregation;
  Optimizer optimizer;
  reference::ProblemShape shape = {131, 67, 137, 73, 3, 37, 1, 6, 2};
  CostOptions options = {};
  bool graph_cut = false;
  int iterations = 1;
  std::size_t block_bytes = MethodSpec().block_bytes;
  bool edges = false;
  int reach = 12;  ///< of the arms
};

reference::OwnedProblem volume_problem(const VolumeCase& c) {
  reference::OwnedProblem owned = reference::random_problem(c.shape, c.options);
  SweepProblem& problem = owned.problem;
  problem.optimizer = c.optimizer;
  problem.block_bytes = c.block_bytes;
  problem.refine.graph_cut = c.graph_cut;
  problem.refine.label_edges = c.edges;
  AggregationOptions& by = problem.aggregation;
  by.kind = c.aggregation;
  by.constant_radius = 3;
  by.adaptive_weight.radius = 5;
  by.cross.reach = c.reach;
  by.cross_based.iterations = c.iterations;
  return owned;
}

class CudaVolumeSweep : public test::GpuTest<testing::TestWithParam<VolumeCase>> {};

TEST_P(CudaVolumeSweep, EqualsTheCpu) {
  const reference::OwnedProblem owned = volume_problem(GetParam());
  test::expect_same(make_cuda_backend({})->sweep(owned.problem), sweep_view(owned.problem));
}

constexpr auto kWinner = Optimizer::kWinnerTakeAll, kPaths = Optimizer::kSemiGlobal,
               kCut = Optimizer::kGraphCut;
constexpr CostOptions kColourMean{CostKind::kSad, 3, Combination::kMean, 1};

INSTANTIATE_TEST_SUITE_P(
    Cases, CudaVolumeSweep,
    testing::Values(
        VolumeCase{"WindowAndWinner", Aggregation::kConstantWindow, kWinner},
        VolumeCase{"WindowAndPaths", Aggregation::kConstantWindow, kPaths},
        VolumeCase{"CrossAndWinner", Aggregation::kCrossBased, kWinner},
        VolumeCase{"CrossAndPaths", Aggregation::kCrossBased, kPaths},
        VolumeCase{"CrossFourTimes",
                   Aggregation::kCrossBased,
                   kPaths,
                   {70, 41, 61, 43, 2, 16, 1, 6, 3},
                   {},
                   false,
                   4},
        VolumeCase{"Colour", Aggregation::kCrossBased, kPaths, {61, 35, 67, 31, 2, 33, 3, 4, 4}, kColourMean},
        VolumeCase{"ColourWinner",
                   Aggregation::kConstantWindow,
                   kWinner,
                   {61, 35, 67, 31, 2, 257, 3, 4, 4},
                   kColourMean},
        VolumeCase{"OneRow", Aggregation::kConstantWindow, kWinner, {40, 1, 37, 23, 2, 9, 1, 4, 7}},
        VolumeCase{"OneColumn", Aggregation::kCrossBased, kPaths, {1, 40, 37, 23, 2, 9, 1, 4, 7}},
        VolumeCase{"TwoPlanes", Aggregation::kCrossBased, kWinner, {15, 9, 17, 11, 1, 2, 1, 4, 6}},
        VolumeCase{"Cut", Aggregation::kNone, kCut, {41, 23, 37, 23, 3, 19, 1, 6, 2}},
        VolumeCase{"CutAfterPaths",
                   Aggregation::kConstantWindow,
                   kPaths,
                   {41, 23, 37, 23, 3, 19, 1, 6, 2},
                   {},
                   true},
        VolumeCase{"Blocks",
                   Aggregation::kCrossBased,
                   kPaths,
                   {250, 190, 260, 200, 2, 70, 1, 3, 8},
                   {},
                   false,
                   2,
                   110 * 100 * 128 * sizeof(float)},
        VolumeCase{"Edges",
                   Aggregation::kNone,
                   kPaths,
                   {131, 67, 137, 73, 3, 37, 1, 6, 2},
                   {},
                   false,
                   1,
                   MethodSpec().block_bytes,
                   true},
        VolumeCase{"EdgesAfterCut",
                   Aggregation::kConstantWindow,
                   kWinner,
                   {41, 23, 37, 23, 3, 19, 1, 6, 2},
                   {},
                   true,
                   1,
                   MethodSpec().block_bytes,
                   true},
        VolumeCase{"EdgesInBlocks",
                   Aggregation::kCrossBased,
                   kPaths,
                   {170, 130, 160, 120, 2, 20, 1, 3, 8},
                   {},
                   false,
                   1,
                   90 * 90 * 64 * sizeof(float),
                   true},
        // Longer than there is shared memory for: sums of the arms are stored.
        VolumeCase{"LongArmsInBlocks",
                   Aggregation::kCrossBased,
                   kWinner,
                   {170, 130, 160, 120, 2, 20, 1, 3, 8},
                   {},
                   false,
                   1,
                   90 * 90 * 64 * sizeof(float),
                   false,
                   160},
        VolumeCase{"CutInBlocks",
                   Aggregation::kConstantWindow,
                   kCut,
                   {170, 130, 160, 120, 2, 20, 1, 3, 8},
                   {},
                   false,
                   1,
                   90 * 90 * 64 * sizeof(float)}),
    [](const auto& one) { return one.param.name; });

class CudaVolumeSweepSingle : public test::GpuTest<> {};

TEST_F(CudaVolumeSweepSingle, StreamsOfDifferentSizesDoNotDisturbEachOther) {
  for (const Aggregation by : {Aggregation::kConstantWindow, Aggregation::kCrossBased}) {
    const reference::OwnedProblem problems[] = {
        volume_problem({"", by, kWinner, {233, 31, 137, 73, 1, 9, 1, 6, 2}, {}, false, 2}),
        volume_problem({"", by, kWinner, {70, 41, 61, 43, 1, 16, 1, 6, 3}, {}, false, 2})};
    const std::unique_ptr<Backend> backend = make_cuda_backend({});
    std::vector<std::future<void>> sweeps;
    for (const reference::OwnedProblem& owned : problems)
      sweeps.push_back(std::async(std::launch::async, [&] {
        const DepthEstimate expected = sweep_view(owned.problem);
        for (int i = 0; i < 100; ++i) test::expect_same(backend->sweep(owned.problem), expected);
      }));
    for (std::future<void>& sweep : sweeps) sweep.get();
  }
}

/// Weights come from the device's fast exponentials: costs differ by up to 2e-5 of theirs, and where two
/// planes are as good as each other another one may win.
constexpr double kDifferingPlanes = 0.01;

TEST_F(CudaVolumeSweepSingle, WithAdaptiveWeightsIsNearlyTheCpus) {
  const reference::OwnedProblem owned = volume_problem({"", Aggregation::kAdaptiveWeight, kWinner});
  const DepthEstimate found = make_cuda_backend({})->sweep(owned.problem),
                      expected = sweep_view(owned.problem);
  int differing = 0, known = 0;
  for (int y = 0; y < expected.depth.height(); ++y)
    for (int x = 0; x < expected.depth.width(); ++x) {
      const float a = found.depth(x, y), b = expected.depth(x, y);
      ASSERT_EQ(std::isnan(a), std::isnan(b)) << x << " " << y;
      known += !std::isnan(b);
      differing += std::abs(a - b) > 1e-3f * b;
    }
  EXPECT_GT(known, 131 * 67 / 2);
  EXPECT_LE(differing, kDifferingPlanes * known);
}

TEST_F(CudaVolumeSweepSingle, CountsWhatItTakesAndStaysWithinALimit) {
  for (const Aggregation by :
       {Aggregation::kConstantWindow, Aggregation::kAdaptiveWeight, Aggregation::kCrossBased}) {
    const reference::OwnedProblem owned =
        volume_problem({"", by, kPaths, {250, 190, 260, 200, 2, 70, 1, 3, 8}});
    test::expect_memory_counted(owned.problem, 97);
  }
  reference::OwnedProblem wide =
      volume_problem({"", Aggregation::kConstantWindow, kPaths, {250, 190, 260, 200, 2, 70, 1, 3, 8}});
  wide.problem.aggregation.constant_radius = 64;  // whose sums are stored
  test::expect_memory_counted(wide.problem, 97);
}

}  // namespace
}  // namespace recon
