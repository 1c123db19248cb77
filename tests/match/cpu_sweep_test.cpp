#include "match/cpu_sweep.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>

#include "reference/sweep_problems.hpp"
#include "reference/sweep_reference.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::OwnedProblem;
using reference::ProblemShape;
using reference::random_problem;

struct SweepCase {
  const char* name;
  ProblemShape shape;
  CostOptions options;
};

void PrintTo(const SweepCase& c, std::ostream* out) {
  *out << c.name;
}

constexpr std::uint16_t kPoison = 0x5A5A;

Volume<Half> sweep_whole(const SweepProblem& problem) {
  const CpuSweep sweep = prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.cost);
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  Volume<Half> volume(width, problem.planes.count, height);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < problem.planes.count; ++d)
      for (int x = 0; x < width; ++x) volume.view()(x, y, d).bits = kPoison;
  sweep_tile(sweep, {0, 0, width, height}, volume.view());
  return volume;
}

/// Calls `check(x, y, d, a, b)` for all samples.
template <class Check>
void for_all_samples(const Volume<Half>& volume, const Check& check) {
  for (int y = 0; y < volume.height(); ++y)
    for (int d = 0; d < volume.planes(); ++d)
      for (int x = 0; x < volume.width(); ++x) check(x, y, d);
}

class CpuSweepOracle : public testing::TestWithParam<SweepCase> {};

TEST_P(CpuSweepOracle, EqualsTheTextbook) {
  const OwnedProblem owned = random_problem(GetParam().shape, GetParam().options);
  const Volume<Half> volume = sweep_whole(owned.problem);
  int samples = 0, different = 0, seen = 0;
  for_all_samples(volume, [&](int x, int y, int d) {
    const double z = 1.0 / static_cast<double>(inverse_depth(owned.problem.planes, static_cast<float>(d)));
    const double expected = reference::sample_cost(owned.problem, x, y, z);
    const double found = to_float(volume.view()(x, y, d));
    ++samples;
    if (std::isinf(expected) || std::isinf(found)) {
      different += std::isinf(expected) != std::isinf(found);
      return;
    }
    ++seen;
    // Half precision: 11 bits. The positions of the sweep are floats; about one in a thousand is rounded to
    // the adjacent 1/256 pixel, which changes single grey levels by one.
    const double step = std::max(std::abs(expected), 0.01) / 1024 + 1e-5;
    if (std::abs(found - expected) > step) ++different;
    EXPECT_NEAR(found, expected, owned.problem.cost.kind == CostKind::kSad ? 0.6 : 0.15)
        << x << " " << y << " " << d;
  });
  EXPECT_LE(different, samples / 50) << "of " << samples;
  // A source of one pixel sees only what falls exactly on its centre, see below: nothing of this problem.
  if (GetParam().shape.source_width > 1)
    EXPECT_GT(seen, samples / 20);
  else
    EXPECT_EQ(seen, 0);
}

TEST_P(CpuSweepOracle, TilesEqualTheWhole) {
  const OwnedProblem owned = random_problem(GetParam().shape, GetParam().options);
  const SweepProblem& problem = owned.problem;
  const Volume<Half> whole = sweep_whole(problem);
  const CpuSweep sweep = prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.cost);
  for (int y = 0; y < whole.height(); y += 5) {
    for (int x = 0; x < whole.width(); x += 7) {
      const Tile tile{x, y, std::min(7, whole.width() - x), std::min(5, whole.height() - y)};
      Volume<Half> part(tile.width, problem.planes.count, tile.height);
      sweep_tile(sweep, tile, part.view());
      for_all_samples(part, [&](int i, int j, int d) {
        ASSERT_EQ(part.view()(i, j, d).bits, whole.view()(x + i, y + j, d).bits)
            << x + i << " " << y + j << " " << d;
      });
    }
  }
}

TEST_P(CpuSweepOracle, EveryInstructionSetGivesTheSameBits) {
  const OwnedProblem owned = random_problem(GetParam().shape, GetParam().options);
  const Volume<Half> best = sweep_whole(owned.problem);
  int sets = 0;
  for (const std::int64_t target : {HWY_SCALAR, HWY_SSSE3, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    const Volume<Half> volume = sweep_whole(owned.problem);
    const std::string name = sweep_instruction_set();
    hwy::SetSupportedTargetsForTest(0);
    ++sets;
    for_all_samples(volume, [&](int x, int y, int d) {
      ASSERT_EQ(volume.view()(x, y, d).bits, best.view()(x, y, d).bits)
          << name << " " << x << " " << y << " " << d;
    });
  }
  EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone is compared with itself";
}

CostOptions options(CostKind cost, int window, Combination combination, int best_k = 2) {
  return {cost, window, combination, best_k};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CpuSweepOracle,
    testing::Values(
        SweepCase{"sad_minimum_7", {}, options(CostKind::kSad, 7, Combination::kMinimum)},
        SweepCase{"sad_mean_3", {33, 9, 29, 31, 3, 4}, options(CostKind::kSad, 3, Combination::kMean)},
        SweepCase{"sad_colour_5", {40, 12, 35, 20, 2, 4, 3}, options(CostKind::kSad, 5, Combination::kBestK)},
        SweepCase{"sad_15", {20, 19, 20, 19, 2, 3}, options(CostKind::kSad, 15, Combination::kMinimum)},
        SweepCase{"zncc_best_2_7", {45, 14, 37, 23, 3, 5}, options(CostKind::kZncc, 7, Combination::kBestK)},
        SweepCase{
            "zncc_best_8_9", {30, 12, 37, 23, 5, 3}, options(CostKind::kZncc, 9, Combination::kBestK, 8)},
        SweepCase{"zncc_mean_11", {30, 12, 37, 23, 3, 3}, options(CostKind::kZncc, 11, Combination::kMean)},
        SweepCase{"zncc_13_turned",
                  {26, 15, 40, 33, 2, 3, 1, 60},
                  options(CostKind::kZncc, 13, Combination::kBestK)},
        SweepCase{"one_column", {1, 20, 21, 20, 2, 3}, options(CostKind::kZncc, 5, Combination::kBestK)},
        SweepCase{"one_pixel", {1, 1, 9, 9, 1, 3, 1, 0}, options(CostKind::kSad, 3, Combination::kMinimum)},
        SweepCase{
            "one_pixel_source", {9, 9, 1, 1, 1, 3, 1, 0}, options(CostKind::kSad, 3, Combination::kMinimum)},
        SweepCase{"wider_than_a_vector",
                  {150, 6, 160, 9, 2, 2},
                  options(CostKind::kSad, 7, Combination::kBestK, 1)}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(CpuSweep, ASourceOfOnePixelSeesWhatFallsOnItsCentre) {
  OwnedProblem owned =
      random_problem({9, 9, 1, 1, 1, 3, 1, 0}, options(CostKind::kSad, 3, Combination::kMinimum));
  SweepProblem& problem = owned.problem;
  problem.reference.camera = {9, 9, 10, 10, 4.5, 4.5};
  problem.sources.front().camera = {1, 1, 10, 10, 0.5, 0.5};
  problem.sources.front().cam_from_world = problem.reference.cam_from_world;
  const Volume<Half> volume = sweep_whole(problem);
  for_all_samples(volume, [&](int x, int y, int d) {
    const double z = 1.0 / static_cast<double>(inverse_depth(problem.planes, static_cast<float>(d)));
    const double expected = reference::sample_cost(problem, x, y, z);
    const double found = to_float(volume.view()(x, y, d));
    EXPECT_EQ(std::isfinite(expected), x == 4 && y == 4) << x << " " << y << " " << d;
    EXPECT_EQ(std::isfinite(found), x == 4 && y == 4) << x << " " << y << " " << d;
    if (x == 4 && y == 4) {
      EXPECT_NEAR(found, expected, 0.6);
    }
  });
}

TEST(CpuSweep, RefusesOptionsOutOfTheirRange) {
  const OwnedProblem owned = random_problem({}, {});
  const auto prepare = [&](CostOptions o) {
    return prepare_cpu_sweep(owned.problem.reference, owned.problem.sources, owned.problem.planes, o);
  };
  EXPECT_THROW(prepare(options(CostKind::kSad, 4, Combination::kMean)), std::logic_error);
  EXPECT_THROW(prepare(options(CostKind::kSad, 17, Combination::kMean)), std::logic_error);
  EXPECT_THROW(prepare(options(CostKind::kSad, 7, Combination::kBestK, 0)), std::logic_error);
}

}  // namespace
}  // namespace recon
