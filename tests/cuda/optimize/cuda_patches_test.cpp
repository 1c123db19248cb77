// Slanted patches on the GPU against the CPU's.

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/methods/sweep/patch_stages.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "cuda/sweep_cases.hpp"
#include "cuda/sweep_run.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/view_sweep.hpp"

namespace recon {
namespace {

using test::expect_same;
using test::SweepCase;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

/// A sweep with patches and its halved images.
class PatchScene {
 public:
  PatchScene(const SweepCase& c, const PatchMatchOptions& options,
             Optimizer optimizer = Optimizer::kWinnerTakeAll)
      : scene_(c) {
    SweepProblem& problem = scene_.problem();
    problem.optimizer = optimizer;
    set_patches(problem, true);
    problem.refine.smooth_patches = problem.refine.prior = problem.refine.patch_edges = true;
    problem.patch_match = options;
    for (std::size_t i = 0; i < problem.sources.size(); ++i) problem.sources[i].id = i + 1;
    coarser_ = halve_images(problem);
  }

  const SweepProblem& problem() const { return scene_.problem(); }

  /// Gives the reference colours, in which edges are looked for.
  void add_colours() {
    const ImageView<const std::uint8_t>& grey = problem().reference.channel[0];
    colours_ = Image<Rgb8>(grey.width, grey.height);
    for (int y = 0; y < grey.height; ++y)
      for (int x = 0; x < grey.width; ++x)
        colours_(x, y) = {grey(x, y), static_cast<std::uint8_t>(x / 7 * 50),
                          static_cast<std::uint8_t>(y * 3)};
    scene_.problem().colours = colours_.view();
  }

 private:
  test::SweepScene scene_;
  Image<Rgb8> colours_;
  std::vector<Image<std::uint8_t>> coarser_;
};

int known_pixels(const DepthEstimate& estimate) {
  int known = 0;
  for (int y = 0; y < estimate.depth.height(); ++y)
    for (int x = 0; x < estimate.depth.width(); ++x) known += !std::isnan(estimate.depth(x, y));
  return known;
}

/// Both storages of the sources give the CPU's result; returns that.
DepthEstimate expect_as_on_cpu(const SweepProblem& problem) {
  DepthEstimate expected = sweep_view(problem);
  for (const test::Storage variant : {test::kAuto, test::kBytes}) {
    SCOPED_TRACE(variant == test::kAuto ? "quads" : "bytes");
    expect_same(expected, test::sweep_limited(problem, variant, kPlenty).estimate);
  }
  return expected;
}

constexpr SweepCase scene(int width, int height, int source_width, int source_height, int sources) {
  return {
      "", width, height, source_width, source_height, 9, sources, CostKind::kZncc, 1, 5, Combination::kBestK,
      2};
}

constexpr SweepCase displaced(double turn, double baseline, double forward) {
  SweepCase c = scene(61, 43, 107, 99, 3);
  c.turn = turn;
  c.baseline = baseline;
  c.forward = forward;
  return c;
}

struct PatchCase {
  const char* name;
  SweepCase scene;
  PatchMatchOptions patches;
  Optimizer optimizer = Optimizer::kWinnerTakeAll;
  bool seen = true;  ///< whether a source sees a patch
};

void PrintTo(const PatchCase& c, std::ostream* stream) {
  *stream << c.name;
}

class CudaPatches : public test::GpuTest<::testing::TestWithParam<PatchCase>> {};

TEST_P(CudaPatches, EqualThoseOfTheCpu) {
  const PatchCase& c = GetParam();
  PatchScene patches(c.scene, c.patches, c.optimizer);
  const DepthEstimate expected = expect_as_on_cpu(patches.problem());
  EXPECT_EQ(known_pixels(expected) > 0, c.seen);
  patches.add_colours();
  expect_as_on_cpu(patches.problem());
}

constexpr auto kByWinner = Optimizer::kWinnerTakeAll, kByPaths = Optimizer::kSemiGlobal;

// In braces after the scene: levels, radius, best_k, iterations.
INSTANTIATE_TEST_SUITE_P(
    Cases, CudaPatches,
    ::testing::Values(PatchCase{"OnePixel", scene(1, 1, 15, 14, 1), {0, 1, 2, 2}},
                      PatchCase{"OnePixelHalvedTwice", scene(1, 1, 25, 24, 1), {2, 1, 2, 2}},
                      PatchCase{"OneRow", scene(37, 1, 40, 19, 2), {1, 2, 2, 2}},
                      PatchCase{"OneColumn", scene(1, 41, 19, 50, 2), {1, 2, 2, 2}},
                      PatchCase{"TwoByThree", scene(2, 3, 25, 29, 2), {2, 1, 2, 2}},
                      PatchCase{"SourceOfOnePixel", scene(9, 7, 1, 1, 1), {0, 1, 2, 2}, kByWinner, false},
                      PatchCase{"SmallerThanAPatch", scene(5, 4, 25, 23, 2), {0, 3, 2, 2}},
                      PatchCase{"WidestSource", scene(61, 43, 16378, 49, 3), {1, 2, 2, 2}},
                      PatchCase{"LowerThanTheLeastBand", scene(33, 9, 41, 21, 3), {1, 2, 2, 2}},
                      PatchCase{"OfBlocksExactly", scene(64, 48, 70, 50, 3), {1, 2, 2, 2}},
                      PatchCase{"OfBlocksAndOne", scene(65, 49, 70, 50, 3), {1, 2, 2, 2}},
                      PatchCase{"Large", scene(311, 139, 300, 150, 4), {1, 2, 2, 2}},
                      PatchCase{"LargeByPaths", scene(311, 139, 300, 150, 4), {2, 3, 3, 3}, kByPaths},
                      PatchCase{"WithoutIterations", scene(61, 43, 67, 49, 3), {1, 2, 2, 0}},
                      PatchCase{"Turned", displaced(0.7, 0.3, 0), {1, 2, 2, 2}},
                      PatchCase{"BehindTheSources", displaced(0.05, 0.2, 2.5), {1, 2, 2, 2}},
                      PatchCase{
                          "AllBehindTheSources", displaced(0.05, 0.2, 20), {1, 2, 2, 2}, kByWinner, false},
                      PatchCase{"NothingSeen", displaced(0, 90, 0), {1, 2, 2, 2}, kByWinner, false},
                      PatchCase{"NothingSeenByPaths", displaced(0, 90, 0), {1, 2, 2, 2}, kByPaths, false}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

class CudaPatchOptions : public test::GpuTest<> {};

TEST_F(CudaPatchOptions, AllRadiiLevelsAndNumbersOfChosenSources) {
  for (int radius = 1; radius <= kMaxPatchRadius; ++radius)
    for (int levels = 0; levels <= 2; ++levels)
      for (int best_k = 1; best_k <= kMaxPatchSources; ++best_k) {
        SCOPED_TRACE("radius " + std::to_string(radius) + ", levels " + std::to_string(levels) + ", best " +
                     std::to_string(best_k));
        const PatchScene patches(scene(61, 43, 67, 49, 5), {levels, radius, best_k, 2});
        EXPECT_GT(known_pixels(expect_as_on_cpu(patches.problem())), 500);
      }
}

/// The coarse sweep takes the first eight only, and later sources are larger.
TEST_F(CudaPatchOptions, AllNumbersOfSources) {
  for (int sources = 1; sources <= 20; ++sources) {
    SCOPED_TRACE(std::to_string(sources) + " sources");
    SweepCase c = scene(61, 43, 67, 49, sources);
    c.baseline = 0.05;
    const PatchScene patches(c, {1, 2, 3, 2});
    EXPECT_GT(known_pixels(expect_as_on_cpu(patches.problem())), 500);
  }
}

/// The costs of all sources of so many pixels exceed those that are held at a time.
TEST_F(CudaPatchOptions, BandsOfRowsDoNotChangeTheChoice) {
  SweepCase c = scene(8192, 140, 2048, 200, 32);
  c.turn = 0.005;
  c.baseline = 0.01;
  const PatchScene patches(c, {1, 1, 2, 1});
  ASSERT_LT(cuda::PatchStages::band_rows(sweep_shape(patches.problem())) - 4, c.height) << "one band";
  EXPECT_GT(known_pixels(expect_as_on_cpu(patches.problem())), 50000);
}

TEST_F(CudaPatchOptions, CachedSourcesGiveTheSame) {
  const PatchScene patches(scene(61, 43, 67, 49, 5), {1, 2, 2, 2});
  const DepthEstimate expected = sweep_view(patches.problem());
  const test::CachedSweeps cached =
      test::sweep_with_cache({patches.problem(), patches.problem(), patches.problem()}, test::kAuto, kPlenty);
  for (const DepthEstimate& estimate : cached.estimates) expect_same(expected, estimate);
  EXPECT_EQ(cached.uploads, 5u) << "only images of the full size are cached, each once";
}

class CudaPatchMemory : public test::GpuTest<> {};

TEST_F(CudaPatchMemory, IsWhatWasPlanned) {
  for (const Optimizer optimizer : {kByWinner, kByPaths})
    for (int levels = 0; levels <= 2; ++levels)
      for (const test::Storage variant : {test::kAuto, test::kBytes}) {
        const PatchScene patches(scene(150, 101, 160, 110, 6), {levels, 2, 2, 1}, optimizer);
        const test::LimitedSweep sweep = test::sweep_limited(patches.problem(), variant, kPlenty);
        EXPECT_EQ(sweep.arena_bytes, sweep.planned_bytes) << "levels " << levels;
      }
}

TEST_F(CudaPatchMemory, SourcesAreBytesWhereQuadsDoNotFit) {
  const PatchScene patches(scene(150, 101, 160, 110, 12), {1, 2, 2, 2});
  const SweepProblem& problem = patches.problem();
  const test::LimitedSweep quads = test::sweep_limited(problem, test::kAuto, kPlenty);
  const std::size_t least = test::sweep_limited(problem, test::kBytes, kPlenty).planned_bytes;
  ASSERT_LT(least, quads.planned_bytes);
  for (const std::size_t limit : {quads.planned_bytes - 1, (quads.planned_bytes + least) / 2, least}) {
    const test::LimitedSweep bytes = test::sweep_limited(problem, test::kAuto, limit);
    EXPECT_LE(bytes.arena_bytes, limit);
    EXPECT_EQ(bytes.arena_bytes, bytes.planned_bytes);
    EXPECT_LT(bytes.planned_bytes, quads.planned_bytes);
    expect_same(quads.estimate, bytes.estimate);
  }
  for (const std::size_t limit : {least - 1, std::size_t{10000}}) {
    try {
      test::sweep_limited(problem, test::kAuto, limit);
      FAIL() << "no exception at " << limit;
    } catch (const OutOfMemory& error) {
      for (const char* option : {"--gpu-memory-limit", "--max-image-size", "--sources"})
        EXPECT_NE(std::string(error.what()).find(option), std::string::npos) << error.what();
    }
  }
}

/// Concurrent views on the streams of a backend, whose limit is between that of one and that of two.
TEST_F(CudaPatchMemory, BackendsKeepTheLimit) {
  const PatchScene patches(scene(150, 101, 160, 110, 6), {1, 2, 2, 2});
  const DepthEstimate expected = sweep_view(patches.problem());
  CudaOptions options;
  options.streams = 2;
  options.memory_limit = test::sweep_limited(patches.problem(), test::kAuto, kPlenty).planned_bytes * 3 / 2;
  const auto backend = make_cuda_backend(options);
  EXPECT_LE(backend->memory(sweep_shape(patches.problem())).device_bytes, *options.memory_limit);
  std::vector<std::future<DepthEstimate>> results;
  for (int i = 0; i < 4; ++i)
    results.push_back(std::async(std::launch::async, [&] { return backend->sweep(patches.problem()); }));
  for (auto& result : results) expect_same(expected, result.get());
}

}  // namespace
}  // namespace recon
