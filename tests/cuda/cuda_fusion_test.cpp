// Fusion on a GPU against the processor: the same points, to the bit and in the same order.

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <tuple>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "fuse/fusion.hpp"
#include "fuse/fusion_cases.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace {

FusionOptions options_with(int spacing, int min_views = 2) {
  FusionOptions options;
  options.agreement = {0.01f, 40.0f, 1, 0.6f};
  options.min_views = min_views;
  options.spacing = spacing;
  return options;
}

Collected fused(RotatedViews& scene, const FusionOptions& options, Backend* gpu = nullptr) {
  Collected cloud;
  const auto device = gpu == nullptr ? nullptr : gpu->fusion(scene.views, options);
  EXPECT_EQ(device == nullptr, gpu == nullptr);
  fuse(scene.views, scene, options, cloud, device.get());
  EXPECT_TRUE(scene.failures.empty());
  return cloud;
}

class CudaFusion : public test::GpuTest<> {};

TEST_F(CudaFusion, GivesThePointsOfTheCpu) {
  const auto gpu = make_cuda_backend({});
  for (const unsigned seed : {1u, 2u})
    for (const int spacing : {1, 2, 3, 8})
      for (const int min_views : {1, 2, 3}) {
        RotatedViews scene(seed), again(seed);
        const FusionOptions options = options_with(spacing, min_views);
        const Collected expected = fused(again, options);
        EXPECT_GT(expected.points.size(), 60u);
        expect_same_points(fused(scene, options, gpu.get()), expected);
        EXPECT_EQ(scene.loads, RotatedViews::kCount) << "the CPU has fused some";
      }
}

TEST_F(CudaFusion, OfMorePointsThanAreCopiedAtOnce) {
  const auto gpu = make_cuda_backend({});
  for (const int spacing : {1, 2}) {
    RotatedViews scene(3, 25), again(3, 25);
    const Collected expected = fused(again, options_with(spacing));
    EXPECT_GT(expected.points.size(), 250000u / static_cast<unsigned>(spacing));
    expect_same_points(fused(scene, options_with(spacing), gpu.get()), expected);
    EXPECT_EQ(scene.loads, RotatedViews::kCount);
  }
}

TEST_F(CudaFusion, LeavesOutViewsWithoutMaps) {
  const auto gpu = make_cuda_backend({});
  for (const std::size_t missing : {0u, 2u, 4u}) {
    RotatedViews scene(4), again(4);
    scene.maps[missing] = again.maps[missing] = nullptr;
    expect_same_points(fused(scene, options_with(2), gpu.get()), fused(again, options_with(2)));
  }
}

/// Views in a row, each with those beside it; the maps of view 1 take 385 KiB, those of the others 25.
struct Row : RotatedViews {
  Row() : RotatedViews(5) {
    for (int i = 0; i < kCount; ++i) {
      std::vector<int>& neighbours = views[static_cast<std::size_t>(i)].neighbours;
      std::erase_if(neighbours, [i](int j) { return std::abs(i - j) > 1; });
    }
  }
};

TEST_F(CudaFusion, OfViewsThatDoNotFitIsThatOfTheCpu) {
  Row again;
  const FusionOptions options = options_with(1);
  const Collected expected = fused(again, options);
  constexpr std::size_t kWithoutMaps = 16557;  // KiB, nearly all of it for points
  for (const auto& [kib, fit, fits_all] :
       {std::tuple(std::size_t{64}, false, false), std::tuple(kWithoutMaps + 200, true, false),
        std::tuple(kWithoutMaps + 500, true, true)}) {
    CudaOptions limited;
    limited.memory_limit = kib << 10;
    const auto gpu = make_cuda_backend(limited);
    Row scene;
    const auto device = gpu->fusion(scene.views, options);
    Collected cloud;
    fuse(scene.views, scene, options, cloud, device.get());
    expect_same_points(cloud, expected);
    EXPECT_EQ(device->has(4), fit) << kib;
    EXPECT_EQ(device->has(1), fits_all) << kib;
    EXPECT_TRUE(scene.failures.empty());
  }
}

TEST_F(CudaFusion, OfSeveralThreadsIsThatOfOne) {
  const auto gpu = make_cuda_backend({});
  std::vector<std::unique_ptr<RotatedViews>> scenes;
  std::vector<std::future<Collected>> found;
  for (unsigned seed = 0; seed < 4; ++seed) {
    scenes.push_back(std::make_unique<RotatedViews>(seed));
    found.push_back(std::async(std::launch::async, [&gpu, scene = scenes.back().get()] {
      return fused(*scene, options_with(2), gpu.get());
    }));
  }
  for (unsigned seed = 0; seed < 4; ++seed) {
    RotatedViews again(seed);
    expect_same_points(found[seed].get(), fused(again, options_with(2)));
  }
}

}  // namespace
}  // namespace recon
