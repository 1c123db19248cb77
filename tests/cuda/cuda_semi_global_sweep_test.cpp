#include <gtest/gtest.h>

#include <string>

#include "cuda/sweep_run.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "reference/sweep_problems.hpp"

namespace recon {
namespace {

struct PathCase {
  std::string name;
  reference::ProblemShape shape;
  CostOptions options = {};
  SemiGlobalOptions penalties = MethodSpec().semi_global;
  std::size_t block_bytes = MethodSpec().block_bytes;
};

reference::OwnedProblem problem_of(const PathCase& c) {
  reference::OwnedProblem owned = reference::random_problem(c.shape, c.options);
  owned.problem.optimizer = Optimizer::kSemiGlobal;
  owned.problem.semi_global = c.penalties;
  owned.problem.block_bytes = c.block_bytes;
  return owned;
}

class CudaSemiGlobalSweep : public test::GpuTest<testing::TestWithParam<PathCase>> {};

TEST_P(CudaSemiGlobalSweep, EqualsTheCpu) {
  const reference::OwnedProblem owned = problem_of(GetParam());
  test::expect_same(make_cuda_backend({})->sweep(owned.problem), sweep_view(owned.problem));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CudaSemiGlobalSweep,
    testing::Values(
        PathCase{"Zncc", {}}, PathCase{"ManyPlanes", {131, 67, 137, 73, 3, 257, 1, 6, 2}},
        PathCase{"Sad", {131, 67, 137, 73, 2, 33, 1, 4, 3}, {CostKind::kSad, 5, Combination::kBestK, 2}},
        PathCase{"Colour",
                 {61, 35, 67, 31, 2, 16, 3, 4, 4},
                 {CostKind::kSad, 3, Combination::kMean, 1},
                 {4, 5, 60, 10}},
        PathCase{"SixteenBits", {61, 35, 67, 31, 2, 100, 1, 4, 5}, {}, {8, 100, 900, 4}},
        PathCase{"MoreThanAThousandPlanes", {24, 19, 27, 21, 2, 1100, 1, 4, 5}},
        PathCase{"TwoPlanes", {15, 9, 17, 11, 1, 2, 1, 4, 6}},
        PathCase{"OneRow", {40, 1, 37, 23, 2, 9, 1, 4, 7}},
        PathCase{
            "Blocks", {250, 190, 260, 200, 2, 70, 1, 3, 8}, {}, MethodSpec().semi_global, 110 * 100 * 128}),
    [](const auto& one) { return one.param.name; });

class CudaSemiGlobalSweepMemory : public test::GpuTest<> {};

TEST_F(CudaSemiGlobalSweepMemory, CountsWhatItTakesAndStaysWithinALimit) {
  const reference::OwnedProblem owned = problem_of({"", {250, 190, 260, 200, 2, 70, 1, 3, 8}});
  test::expect_memory_counted(owned.problem, 90);
}

TEST_F(CudaSemiGlobalSweepMemory, OneVolumeOfSumsWhereTwoDoNotFitGivesTheSame) {
  const reference::OwnedProblem owned = problem_of({"", {250, 190, 260, 200, 2, 70, 1, 3, 8}});
  const test::LimitedSweep limited =
      test::sweep_limited(owned.problem, test::kAuto, std::size_t{250} * 190 * 128 * 4);
  EXPECT_EQ(limited.arena_bytes, limited.planned_bytes);
  test::expect_same(sweep_view(owned.problem), limited.estimate);
}

}  // namespace
}  // namespace recon
