// Sources that stay on the device from view to view.

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "cuda/sweep_run.hpp"
#include "reference/sweep_problems.hpp"

namespace recon {
namespace {

constexpr int kImages = 6, kPerView = 3;
constexpr std::size_t kAll = std::size_t{1} << 30;

/// Views that share sources: view i sees the images i .. i + kPerView - 1, counted in a circle. Every second
/// one needs more memory.
struct SharedSources {
  reference::OwnedProblem owned;
  std::vector<SweepProblem> views;

  SharedSources(const CostOptions& options, int channels) {
    owned = reference::random_problem({61, 37, 67, 41, kImages, 19, channels, 4, 3}, options);
    std::vector<PosedImage> images = owned.problem.sources;
    for (int i = 0; i < kImages; ++i)
      images[static_cast<std::size_t>(i)].id = static_cast<std::uint64_t>(i + 1);
    for (int view = 0; view < 2 * kImages; ++view) {
      SweepProblem problem = owned.problem;
      problem.planes = make_plane_set(1.0, 4.0, view % 2 == 0 ? 9 : 19);
      problem.sources.clear();
      for (int s = 0; s < kPerView; ++s)
        problem.sources.push_back(images[static_cast<std::size_t>((view + s) % kImages)]);
      views.push_back(std::move(problem));
    }
  }
  /// Bytes of one channel of a source as quads.
  static std::size_t image_bytes() {
    return static_cast<std::size_t>(padded_count<std::uint32_t>(67)) * 41 * sizeof(std::uint32_t);
  }
};

class CudaImageCache : public test::GpuTest<> {
 protected:
  static void expect_as_without(const SharedSources& shared, test::Storage variant,
                                const test::CachedSweeps& cached) {
    ASSERT_EQ(cached.estimates.size(), shared.views.size());
    for (std::size_t i = 0; i < shared.views.size(); ++i)
      test::expect_same(test::sweep_limited(shared.views[i], variant, kAll).estimate, cached.estimates[i]);
  }
};

TEST_F(CudaImageCache, UploadsEachChannelOfASourceOnce) {
  const SharedSources grey({CostKind::kZncc, 7, Combination::kBestK, 2}, 1);
  for (const auto variant : {test::kAuto, test::kBytes}) {
    const test::CachedSweeps cached = test::sweep_with_cache(grey.views, variant, kAll);
    EXPECT_EQ(cached.uploads, std::size_t{kImages});
    expect_as_without(grey, variant, cached);
  }
  const SharedSources colour({CostKind::kSad, 5, Combination::kMean, 1}, 3);
  const test::CachedSweeps cached = test::sweep_with_cache(colour.views, test::kAuto, kAll);
  EXPECT_EQ(cached.uploads, std::size_t{3 * kImages});
  expect_as_without(colour, test::kAuto, cached);
}

TEST_F(CudaImageCache, EvictsImagesWhereMemoryIsShort) {
  const SharedSources shared({CostKind::kZncc, 7, Combination::kBestK, 2}, 1);
  const std::size_t views = shared.views.size();
  // Two of three sources fit while a view uses them all; with four, one of three is new to each view.
  const struct {
    std::size_t images, min_uploads, max_uploads;
  } cases[] = {{0, 0, 0}, {2, views, 2 * views}, {4, views, views + 2}};
  for (const auto& c : cases) {
    const test::CachedSweeps cached =
        test::sweep_with_cache(shared.views, test::kAuto, c.images * SharedSources::image_bytes());
    EXPECT_GE(cached.uploads, c.min_uploads) << c.images << " images";
    EXPECT_LE(cached.uploads, c.max_uploads) << c.images << " images";
    expect_as_without(shared, test::kAuto, cached);
  }
}

TEST_F(CudaImageCache, ImagesWithoutAnIdAreNotKept) {
  SharedSources shared({CostKind::kZncc, 7, Combination::kBestK, 2}, 1);
  for (SweepProblem& view : shared.views)
    for (PosedImage& source : view.sources) source.id = 0;
  EXPECT_EQ(test::sweep_with_cache(shared.views, test::kAuto, kAll).uploads, 0u);
}

/// The least memory that a view can be swept in, to five per cent.
std::size_t least_memory(const SweepProblem& view, std::size_t limit) {
  const std::size_t step = limit / 20;
  try {
    for (;; limit -= step) test::sweep_limited(view, test::kAuto, limit - step);
  } catch (const OutOfMemory&) {
    return limit;
  }
}

/// Concurrent sweeps of a backend whose memory is for the streams and all images, for the streams and a few
/// images, for the streams alone, and for one stream at a time.
TEST_F(CudaImageCache, ConcurrentSweepsEqualThoseWithoutIt) {
  const SharedSources shared({CostKind::kZncc, 7, Combination::kBestK, 2}, 1);
  const SweepProblem& large = shared.views[1];
  const std::size_t sweep = test::sweep_limited(large, test::kAuto, kAll).planned_bytes;
  for (const std::size_t limit :
       {kAll, 2 * sweep + 4 * SharedSources::image_bytes(), 2 * sweep, least_memory(large, sweep)}) {
    CudaOptions options;
    options.memory_limit = limit;
    const auto backend = make_cuda_backend(options);
    std::vector<std::future<std::vector<DepthEstimate>>> threads;
    for (int t = 0; t < 3; ++t)
      threads.push_back(std::async(std::launch::async, [&, t] {
        std::vector<DepthEstimate> estimates;
        for (std::size_t i = 0; i < shared.views.size(); ++i)
          estimates.push_back(
              backend->sweep(shared.views[(i + static_cast<std::size_t>(t)) % shared.views.size()]));
        return estimates;
      }));
    for (std::size_t t = 0; t < threads.size(); ++t) {
      const std::vector<DepthEstimate> estimates = threads[t].get();
      for (std::size_t i = 0; i < estimates.size(); ++i) {
        const SweepProblem& view = shared.views[(i + t) % shared.views.size()];
        test::expect_same(test::sweep_limited(view, test::kAuto, kAll).estimate, estimates[i]);
      }
    }
  }
}

}  // namespace
}  // namespace recon
