#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <thread>

#include "cuda/device/memory.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/sweep_cases.hpp"
#include "cuda/sweep_run.hpp"
#include "cuda/testing/naive_kernels.hpp"
#include "cuda/testing/support.hpp"
#include "cuda/testing/timing.hpp"
#include "steps/plane_sweep.hpp"

namespace recon {
namespace {

using test::expect_same;
using test::SweepCase;
using test::SweepScene;

class CudaSweep : public test::GpuTest<::testing::TestWithParam<SweepCase>> {};

::testing::AssertionResult same_volume(VolumeView<const Half> a, VolumeView<const Half> b) {
  std::size_t count = 0;
  std::string first;
  for (int y = 0; y < a.height; ++y)
    for (int d = 0; d < a.planes; ++d)
      for (int x = 0; x < a.width; ++x) {
        if (a(x, y, d).bits == b(x, y, d).bits) continue;
        if (count++ == 0)
          first = "first at x " + std::to_string(x) + ", y " + std::to_string(y) + ", plane " +
                  std::to_string(d) + ": " + std::to_string(to_float(a(x, y, d))) + " and " +
                  std::to_string(to_float(b(x, y, d)));
      }
  if (count == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << count << " costs differ, " << first;
}

TEST_P(CudaSweep, EqualsItsStepsToTheBit) {
  const SweepScene scene(GetParam());
  const SweepProblem& problem = scene.problem();
  const Volume<Half> expected = steps::sweep_volume(problem);
  const DepthEstimate winners = steps::winners(expected.view(), problem.planes);

  EXPECT_TRUE(same_volume(expected.view(), test::sweep_volume(problem, test::kAuto).view())) << "quads";
  EXPECT_TRUE(same_volume(expected.view(), test::sweep_volume(problem, test::kBytes).view())) << "bytes";
  expect_same(winners, test::sweep_limited(problem, test::kAuto, std::size_t{1} << 30).estimate);
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaSweep, ::testing::ValuesIn(test::sweep_cases()),
                         [](const auto& test_case) { return std::string(test_case.param.name); });

class CudaSweepLimits : public test::GpuTest<> {};

/// Limits from plenty down to too little: never more memory than said, always the same result.
void expect_limits_change_nothing(const SweepCase& c) {
  const SweepScene scene(c);
  const test::LimitedSweep free = test::sweep_limited(scene.problem(), test::kAuto, std::size_t{1} << 30);
  EXPECT_EQ(free.tiles, 1);
  int most_tiles = 1;
  bool refused = false;
  for (std::size_t limit = free.planned_bytes; !refused; limit -= limit / 16) {
    try {
      const test::LimitedSweep limited = test::sweep_limited(scene.problem(), test::kAuto, limit);
      EXPECT_LE(limited.planned_bytes, limit);
      EXPECT_EQ(limited.arena_bytes, limited.planned_bytes);
      expect_same(free.estimate, limited.estimate);
      most_tiles = std::max(most_tiles, limited.tiles);
    } catch (const OutOfMemory& error) {
      refused = true;
      EXPECT_NE(std::string(error.what()).find("--gpu-memory-limit"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("--max-image-size"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(most_tiles, 11) << "only groups of rows, no ranges of planes";
}

TEST_F(CudaSweepLimits, ZnccInPieces) {
  expect_limits_change_nothing(
      {"", 151, 301, 160, 310, 37, 3, CostKind::kZncc, 1, 5, Combination::kBestK, 2});
}

TEST_F(CudaSweepLimits, SadInPieces) {
  expect_limits_change_nothing({"", 151, 301, 160, 310, 37, 2});
}

class CudaBackendTest : public test::GpuTest<> {};

TEST_F(CudaBackendTest, StreamsGiveTheSameAsOneAfterTheOther) {
  const SweepScene first({"", 311, 139, 300, 150, 17, 3});
  const SweepScene second({"", 140, 77, 130, 70, 33, 5, CostKind::kZncc, 1, 7, Combination::kBestK, 2});
  CudaOptions options;
  options.streams = 2;
  const auto backend = make_cuda_backend(options);
  EXPECT_EQ(backend->streams(), 2);
  EXPECT_NE(backend->name().find("cuda:0"), std::string::npos);
  const DepthEstimate alone[2] = {backend->sweep(first.problem()), backend->sweep(second.problem())};
  constexpr int kThreads = 4, kRounds = 4;
  std::vector<std::thread> threads;
  std::vector<DepthEstimate> results(kThreads * kRounds);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int r = 0; r < kRounds; ++r)
        results[static_cast<std::size_t>(t * kRounds + r)] =
            backend->sweep((t + r) % 2 == 0 ? first.problem() : second.problem());
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t)
    for (int r = 0; r < kRounds; ++r)
      expect_same(alone[(t + r) % 2], results[static_cast<std::size_t>(t * kRounds + r)]);
}

/// The least memory that sweeps a problem.
std::size_t min_limit(const SweepProblem& problem) {
  std::size_t limit = test::sweep_limited(problem, test::kAuto, std::size_t{1} << 30).planned_bytes;
  try {
    for (;; limit -= limit / 16) test::sweep_limited(problem, test::kAuto, limit - limit / 16);
  } catch (const OutOfMemory&) {
    return limit;
  }
}

TEST_F(CudaBackendTest, UsesTheWholeLimitAloneWhereAShareDoesNotSuffice) {
  const SweepScene scene({"", 311, 139, 300, 150, 9, 3});
  CudaOptions options;
  options.streams = 4;
  const DepthEstimate free = make_cuda_backend(options)->sweep(scene.problem());
  options.memory_limit = min_limit(scene.problem());
  const auto backend = make_cuda_backend(options);
  std::vector<std::future<DepthEstimate>> results;
  for (int i = 0; i < 3; ++i)
    results.push_back(std::async(std::launch::async, [&] { return backend->sweep(scene.problem()); }));
  for (auto& result : results) expect_same(free, result.get());
}

/// Takes the memory of the device, but for about `left` bytes.
std::vector<cuda::DeviceBuffer> take_all_but(std::size_t left) {
  std::vector<cuda::DeviceBuffer> taken;
  for (std::size_t piece = std::size_t{1} << 34; piece >= std::size_t{1} << 22;) {
    if (cuda::free_memory() >= left + piece)
      taken.emplace_back(piece);
    else
      piece /= 2;
  }
  return taken;
}

TEST_F(CudaBackendTest, GoesOnWithLessWhereAnotherProgramTakesTheMemory) {
  const SweepScene scene({"", 1200, 901, 1200, 901, 64, 3, CostKind::kZncc, 1, 5, Combination::kBestK, 2});
  constexpr std::size_t kLeft = std::size_t{96} << 20;
  CudaOptions options;
  options.streams = 2;
  const auto backend = make_cuda_backend(options);
  const DepthEstimate free = make_cuda_backend(options)->sweep(scene.problem());
  ASSERT_GT(backend->memory(sweep_shape(scene.problem())).device_bytes, kLeft);
  {
    const std::vector<cuda::DeviceBuffer> taken = take_all_but(kLeft);
    auto other = std::async(std::launch::async, [&] { return backend->sweep(scene.problem()); });
    expect_same(free, backend->sweep(scene.problem()));
    expect_same(free, other.get());
  }
  expect_same(free, backend->sweep(scene.problem()));
}

TEST_F(CudaBackendTest, CountsWhatASweepTakes) {
  const SweepScene scene({"", 150, 401, 160, 120, 37, 3, CostKind::kZncc, 1, 5, Combination::kBestK, 2});
  const SweepShape shape{{}, 150, 401, 166, 124, 1, 3, 37};
  CudaOptions options;
  options.streams = 1;
  const WorkMemory free = make_cuda_backend(options)->memory(shape);
  EXPECT_GE(free.device_bytes,
            test::sweep_limited(scene.problem(), test::kAuto, std::size_t{1} << 30).arena_bytes);
  options.memory_limit = free.device_bytes / 2;
  EXPECT_LE(make_cuda_backend(options)->memory(shape).device_bytes, *options.memory_limit);
  EXPECT_GT(make_cuda_backend(options)->memory(shape).tiles, 1);
  options.memory_limit = 10000;
  EXPECT_THROW(make_cuda_backend(options)->memory(shape), OutOfMemory);
}

TEST_F(CudaBackendTest, RefusesADeviceThatIsNotThere) {
  CudaOptions options;
  options.device = 99;
  EXPECT_THROW(make_cuda_backend(options), DeviceUnavailable);
}

class CudaNumbers : public test::GpuTest<> {};

TEST_F(CudaNumbers, ReciprocalsAreRoundedAsIeeeAsks) {
  cuda::Call call(0);
  auto* const wrong = call.take<unsigned long long>(1);
  cuda::launch_reciprocals(wrong, call.get());
  EXPECT_EQ(call.download(wrong, 1, 1, 1)(0, 0), 0u);
}

class NaiveKernel : public test::GpuTest<> {};

/// The baseline is no oracle (it reads the nearest pixel in double precision), but it must do the same job.
TEST_F(NaiveKernel, FindsMostlyTheSamePlanes) {
  SweepScene scene(
      {"", 160, 120, 160, 120, 16, 2, CostKind::kSad, 1, 7, Combination::kMinimum, 1, 0.0, 0.05});
  SweepProblem& problem = scene.problem();
  // Sources that are the reference itself, seen from aside: plane 8 is right everywhere.
  const double depth = 1.0 / static_cast<double>(inverse_depth(problem.planes, 8.0f));
  const double shift = 6.0;
  problem.reference.camera.cx = problem.reference.camera.cy = 64.0;
  Image<std::uint8_t> moved(160, 120, 0);
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x)
      moved(x, y) = problem.reference.channel[0](std::min(159, x + static_cast<int>(shift)), y);
  problem.sources.resize(1);
  problem.sources[0].camera = problem.reference.camera;
  problem.sources[0].channel[0] = moved.view();
  problem.sources[0].cam_from_world.rotation = identity<double>();
  problem.sources[0].cam_from_world.translation = {-shift * depth / problem.reference.camera.fx, 0, 0};
  const Image<int> planes = cuda::time_naive_sweep(problem, 1).planes;
  int right = 0, textured = 0;
  for (int y = 10; y < 110; ++y)
    for (int x = 20; x < 140; ++x) {
      const auto& image = problem.reference.channel[0];
      if (std::abs(image(x - 3, y) - image(x + 3, y)) < 20) continue;
      ++textured;
      if (planes(x, y) == 8) ++right;
    }
  EXPECT_GT(textured, 1000);
  EXPECT_GT(right, textured * 9 / 10);
}

}  // namespace
}  // namespace recon
