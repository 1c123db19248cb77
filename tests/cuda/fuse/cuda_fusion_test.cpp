// Fusion on a GPU against the processor: the same points, to the bit and in the same order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "fuse/device_fusion.hpp"
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

/// Counts the views that a device has fused.
struct Counted : DeviceFusion {
  explicit Counted(std::unique_ptr<DeviceFusion> counted) : device(std::move(counted)) {}
  bool has(int view) const override { return device->has(view); }
  std::unique_ptr<FusionInProgress> begin(const FusionJob& job) override {
    auto begun = device->begin(job);
    if (!begun) return nullptr;
    most = std::max(most, ++in_progress);
    return std::make_unique<View>(*this, job, std::move(begun));
  }

  struct View : FusionInProgress {
    View(Counted& of, const FusionJob& begun_job, std::unique_ptr<FusionInProgress> begun)
        : counted(of), job(begun_job), view(std::move(begun)) {}
    ~View() override { --counted.in_progress; }
    void mark() override { view->mark(); }
    void pass_on(PointSink& sink, FusionProgress& progress) override {
      view->pass_on(sink, progress);
      EXPECT_EQ(progress.rows, job.reference.view->camera.height);
      counted.fused.push_back(job.reference.index);
    }
    Counted& counted;
    const FusionJob& job;
    const std::unique_ptr<FusionInProgress> view;
  };

  const std::unique_ptr<DeviceFusion> device;
  std::vector<int> fused;
  int in_progress = 0, most = 0;  ///< views at a time
};

Collected fused(RotatedViews& scene, const FusionOptions& options) {
  Collected cloud;
  fuse(scene.views, scene, options, cloud);
  return cloud;
}

/// Fuses all views that have maps on a GPU.
Collected fused(RotatedViews& scene, const FusionOptions& options, Backend& gpu) {
  Collected cloud;
  Counted device(gpu.fusion(scene.views, options));
  fuse(scene.views, scene, options, cloud, &device);
  EXPECT_TRUE(scene.failures.empty());
  EXPECT_EQ(device.fused.size(), scene.maps.size() - static_cast<std::size_t>(std::count(
                                                         scene.maps.begin(), scene.maps.end(), nullptr)))
      << "the CPU has fused some";
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
        expect_same_points(fused(scene, options, *gpu), expected);
      }
}

TEST_F(CudaFusion, FollowsTheNoiseOfNormals) {
  const auto gpu = make_cuda_backend({});
  for (const int spacing : {1, 2}) {
    RotatedViews scene(6), again(6), strict(6);
    for (RotatedViews* it : {&scene, &again, &strict}) it->smooth_some_normals();
    FusionOptions options = options_with(spacing);
    options.agreement.max_angle_degrees = 15;
    const std::size_t without = fused(strict, options).points.size();
    options.agreement.angle_follows_noise = true;
    const Collected expected = fused(again, options);
    EXPECT_GT(expected.points.size(), without);
    expect_same_points(fused(scene, options, *gpu), expected);
  }
}

TEST_F(CudaFusion, OfManyViewsMakesPointsOfOneWhileItBeginsTheNext) {
  const auto gpu = make_cuda_backend({});
  for (const int spacing : {1, 2}) {
    PlaneViews scene(40), again(40);
    Collected expected, found;
    fuse(again.views, again, options_with(spacing), expected);
    Counted device(gpu->fusion(scene.views, options_with(spacing)));
    fuse(scene.views, scene, options_with(spacing), found, &device);
    expect_same_points(found, expected);
    EXPECT_EQ(device.fused.size(), 40u);
    EXPECT_EQ(device.most, 2);
  }
}

TEST_F(CudaFusion, LeavesNoCracks) {
  const auto gpu = make_cuda_backend({});
  for (const int spacing : {1, 2, 3}) {
    RotatedViews scene(7, 3);
    const FusionOptions options = options_with(spacing);
    expect_no_cracks(scene, fused(scene, options, *gpu).points, options);
  }
}

TEST_F(CudaFusion, OfMorePointsThanAreCopiedAtOnce) {
  const auto gpu = make_cuda_backend({});
  for (const int spacing : {1, 2}) {
    RotatedViews scene(3, 25), again(3, 25);
    const Collected expected = fused(again, options_with(spacing));
    EXPECT_GT(expected.points.size(), 250000u / static_cast<unsigned>(spacing));
    expect_same_points(fused(scene, options_with(spacing), *gpu), expected);
  }
}

TEST_F(CudaFusion, LeavesOutViewsWithoutMaps) {
  const auto gpu = make_cuda_backend({});
  for (const std::size_t missing : {0u, 2u, 4u}) {
    RotatedViews scene(4), again(4);
    scene.maps[missing] = again.maps[missing] = nullptr;
    expect_same_points(fused(scene, options_with(2), *gpu), fused(again, options_with(2)));
  }
}

/// Views in a row, each with those beside it; the maps of view 1 take 385 KiB, those of the others 25 each.
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
  using Views = std::vector<int>;
  for (const auto& [kib, fit] :
       {std::pair(std::size_t{64}, Views{}), std::pair(kWithoutMaps + 200, Views{3, 4}),
        std::pair(kWithoutMaps + 460, Views{0, 1, 2, 3, 4})}) {
    CudaOptions limited;
    limited.memory_limit = kib << 10;
    const auto gpu = make_cuda_backend(limited);
    Row scene;
    Counted device(gpu->fusion(scene.views, options));
    Collected cloud;
    fuse(scene.views, scene, options, cloud, &device);
    expect_same_points(cloud, expected);
    EXPECT_EQ(device.fused, fit) << kib;
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
      return fused(*scene, options_with(2), *gpu);
    }));
  }
  for (unsigned seed = 0; seed < 4; ++seed) {
    RotatedViews again(seed);
    expect_same_points(found[seed].get(), fused(again, options_with(2)));
  }
}

}  // namespace
}  // namespace recon
