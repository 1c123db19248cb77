// The planar prior on the GPU against the CPU's.

#include <gtest/gtest.h>

#include <cstring>

#include "cuda/gpu_test.hpp"
#include "cuda/optimize/patch_match/supported_planes.hpp"
#include "cuda/testing/support.hpp"
#include "optimize/supported_planes_problem.hpp"

namespace recon {
namespace {

using Problem = test::SupportedPlanesProblem;

int differing(const Image<PatchState>& a, const Image<PatchState>& b) {
  int count = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) count += std::memcmp(&a(x, y), &b(x, y), sizeof(PatchState)) != 0;
  return count;
}

/// fill_supported_planes on the GPU.
Image<PatchState> filled_on_gpu(const Problem& problem, cuda::SourceStorage storage) {
  const int width = problem.states.width(), height = problem.states.height();
  const std::size_t pixels = element_count({width, height});
  const std::vector<WarpedImage> sources = problem.sources();
  cuda::Call call;
  cuda::PatchArgs args{};
  args.sources = static_cast<int>(sources.size());
  args.storage = storage;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto& [warp, image] = sources[s];
    const std::uint8_t* bytes = call.upload(image, image.width);
    args.source[s] = {warp, image.width, image.height, image.width, {bytes, nullptr, nullptr}};
    if (storage == cuda::SourceStorage::kBytes) continue;
    auto* const quads = call.take<std::uint32_t>(element_count({image.width, image.height}));
    cuda::launch_quads(bytes, image.width, image.width, image.height, quads, image.width, call.get());
    args.source[s].channel[0] = quads;
  }
  args.reference = call.upload(problem.scene.reference.channel[0], width);
  args.reference_pitch = width;
  args.iteration.range = test::kSupportedRange;
  args.states = {call.upload(problem.states.view(), width), width, height, width};
  cuda::SupportMemory memory{};
  memory.kinds = call.take<PixelKind>(pixels);
  memory.choices = call.take<std::uint32_t>(pixels);
  memory.parents = call.take<std::int32_t>(pixels);
  memory.balances = call.take<std::int32_t>(pixels);
  memory.levels = call.take<unsigned long long>(2 * kComparedSources);
  cuda::launch_supported_planes(args, memory, call.get());
  return call.download(args.states.data, width, width, height);
}

/// Both storages of the sources give the CPU's states; returns how many pixels are filled.
int expect_as_on_cpu(const Problem& problem) {
  const Image<PatchState> expected = problem.filled();
  for (const auto storage : {cuda::SourceStorage::kQuads, cuda::SourceStorage::kBytes}) {
    const Image<PatchState> filled = filled_on_gpu(problem, storage);
    EXPECT_EQ(differing(filled, expected), 0) << (storage == cuda::SourceStorage::kQuads ? "quads" : "bytes");
  }
  return differing(problem.states, expected);
}

class CudaSupportedPlanes : public test::GpuTest<> {};

TEST_F(CudaSupportedPlanes, FillAHole) {
  EXPECT_EQ(expect_as_on_cpu(Problem(96, 72, {40, 30, 60, 45})), 20 * 15);
}

TEST_F(CudaSupportedPlanes, AreThoseOfTheCpuWithWrongSupports) {
  Problem problem(96, 72, {30, 20, 75, 55});
  problem.displace({0, 0, 34, 30}, 5);
  problem.disturb();
  EXPECT_GT(expect_as_on_cpu(problem), 400);
}

/// Many areas, of which the photos contradict some: their pixels and sizes add up in any order.
TEST_F(CudaSupportedPlanes, AreasOfALargeImage) {
  Problem problem(643, 481, {0, 0, 0, 0});
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 7; ++column) {
      const int left = 20 + 90 * column, top = 20 + 92 * row;
      if ((row + column) % 3 == 0) problem.displace({left - 15, top - 15, left + 70, top + 70}, 9);
      for (int y = top; y < top + 50; ++y)
        for (int x = left; x < left + 50; ++x) problem.states(x, y) = {problem.random_plane(x, y), 0.6f};
    }
  const int filled = expect_as_on_cpu(problem);
  EXPECT_GT(filled, 22 * 2500);
  EXPECT_LT(filled, 24 * 2500);
  problem.disturb();
  EXPECT_GT(expect_as_on_cpu(problem), 22 * 2500);
}

/// Supports are up to 200 pixels away. In the middle of the holes there are six, but neither of the farther
/// two sides has one.
TEST_F(CudaSupportedPlanes, ReachAsFarAsOnTheCpu) {
  EXPECT_EQ(expect_as_on_cpu(Problem(700, 240, {120, 60, 580, 180})), 2 * kMaxSupportSteps * 120);
  EXPECT_EQ(expect_as_on_cpu(Problem(240, 700, {60, 120, 180, 580})), 47995);
}

/// Where the reference is black and its sources are not, the gains fall so far that the photos contradict.
TEST_F(CudaSupportedPlanes, BlackPixelsCountTowardsTheGains) {
  Problem problem(320, 240, {150, 20, 180, 50});
  for (std::size_t i = 0; i < problem.scene.images.size(); ++i)
    for (int y = 80; y < 240; ++y)
      for (int x = 0; x < 320; ++x) problem.scene.images[i](x, y) = i == 0 ? 0 : 40;
  EXPECT_EQ(expect_as_on_cpu(problem), 0);
  for (int y = 80; y < 240; ++y)
    for (int x = 0; x < 320; ++x) problem.states(x, y).cost = 0.6f;
  EXPECT_EQ(expect_as_on_cpu(problem), 900);
}

TEST_F(CudaSupportedPlanes, TakeTinyImages) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {3, 2}})
    EXPECT_EQ(expect_as_on_cpu(Problem(width, height, {0, 0, width, height})), 0);
}

}  // namespace
}  // namespace recon
