// The memory of a plan, on a row of cameras.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "methods/stereo/pair.hpp"
#include "session/plan/plan.hpp"
#include "session/row_of_views.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/plan_memory.hpp"

namespace recon {
namespace {

/// A backend that takes a fixed number of bytes.
class FixedBackend : public Backend {
 public:
  explicit FixedBackend(std::size_t bytes) : bytes_(bytes) {}
  std::string name() const override { return "fixed"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {bytes_, 0, 1}; }
  DepthEstimate sweep(const SweepProblem&) override { return {}; }
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {bytes_, 0, 1}; }
  DisparityMap match(const PairProblem&) override { return {}; }

 private:
  std::size_t bytes_;
};

/// Photos keep their size.
SessionOptions options_of_whole_photos() {
  SessionOptions options = options_with();
  options.quality = Quality::kHigh;
  return options;
}

TEST(MemoryPlan, CountsHalvedImages) {
  SessionOptions options = options_of_whole_photos(), patches = options;
  set_patches(patches.use(Method::kPlaneSweep), true);
  const Camera camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}};
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FixedBackend>(std::size_t{500} << 20));
  const auto cache = [&](const SessionOptions& of) {
    return plan_memory(make_plan(row_of_views(6, camera), {}, SceneSettings(of)), SceneSettings(of), backends,
                       {std::size_t{64} << 30, 4})
        .photo_cache;
  };
  constexpr std::size_t kPixels = std::size_t{6} * (6016 + 64) * 4000;  // rows are padded
  EXPECT_EQ(cache(options), 4 * kPixels);
  EXPECT_EQ(cache(patches), 4 * kPixels + kPixels / 3);
}

TEST(MemoryPlan, StaysWithinItsLimitOrRefuses) {
  SessionOptions options = options_of_whole_photos();
  const ScenePlan plan =
      make_plan(row_of_views(6, Camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}}), {},
                SceneSettings(options));
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FixedBackend>(std::size_t{500} << 20));
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  EXPECT_THROW(plan_memory(plan, SceneSettings(options), backends, {kGiB, 4}), OutOfMemory);
  EXPECT_GT(plan_memory(plan, SceneSettings(options), backends, {2200 * (kGiB >> 10), 4}).fusion_files, 0u)
      << "fusion does not hold six views in memory";
  EXPECT_EQ(plan_memory(plan, SceneSettings(options), backends, {64 * kGiB, 4}).fusion_files, 0u);
  for (const std::size_t limit : {4 * kGiB, 64 * kGiB}) {
    const MemoryPlan memory = plan_memory(plan, SceneSettings(options), backends, {limit, 16});
    EXPECT_LE(memory.peak, limit);
    EXPECT_LE(memory.map_cache + memory.photo_cache, limit);
    EXPECT_GE(memory.fusion_views, 2);
    EXPECT_GE(memory.check_at_once, 1);
  }
  SessionOptions paired = options;
  paired.planes.reset();
  paired.method = Method::kSemiGlobal;
  const ScenePlan pairs = make_plan(plan.scene, {}, SceneSettings(paired));
  EXPECT_THROW(plan_memory(pairs, SceneSettings(paired), backends, {kGiB, 4}), OutOfMemory);
  EXPECT_LE(plan_memory(pairs, SceneSettings(paired), backends, {4 * kGiB, 4}).peak, 4 * kGiB);
  options.stage = Stage::kEstimate;
  EXPECT_LE(plan_memory(plan, SceneSettings(options), backends, {2 * kGiB, 16}).peak, 2 * kGiB);
  EXPECT_EQ(plan_memory(plan, SceneSettings(options), backends, {2 * kGiB, 16}).threads_a_stream, 1);
  EXPECT_EQ(plan_memory(plan, SceneSettings(options), backends, {64 * kGiB, 16}).threads_a_stream, 2);
}

TEST(MemoryPlan, CountsTheFilesThatAreThereAtATime) {
  constexpr int kViews = 10;
  ScenePlan plan = make_plan(row_of_views(kViews, kPinholeCamera), {}, SceneSettings(options_with()));
  // At the last check there are all maps after the check (17 bytes a pixel), and of those before it (5) the
  // last two.
  for (int i = 0; i < kViews; ++i) {
    std::vector<int>& sources = plan.views[static_cast<std::size_t>(i)].sources;
    sources.clear();
    if (i > 0) sources.push_back(i - 1);
    if (i + 1 < kViews) sources.push_back(i + 1);
  }
  const auto& camera = plan.view(0).camera;
  const std::uint64_t unchecked = 5ull * static_cast<unsigned>(camera.width * camera.height);
  SessionOptions clean = options_with();
  clean.clean = true;
  EXPECT_EQ(output_bytes(plan, SceneSettings(options_with())) - output_bytes(plan, SceneSettings(clean)),
            (kViews - 2) * unchecked);
}

TEST(MemoryPlan, CountsMasks) {
  const SessionOptions options = options_of_whole_photos();
  Scene scene = row_of_views(4, Camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}});
  const ScenePlan whole = make_plan(scene, {}, SceneSettings(options));
  for (View& view : scene.views)
    if (view.name != "v1.png") view.mask_hash = "hash";
  const ScenePlan masked = make_plan(scene, {}, SceneSettings(options));
  constexpr std::size_t kPixels = std::size_t{6000} * 4000;
  EXPECT_EQ(output_bytes(masked, SceneSettings(options)),
            output_bytes(whole, SceneSettings(options)) + 3 * kPixels)
      << "a file of each of three";
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FixedBackend>(std::size_t{4} << 30));
  SessionOptions estimate = options;
  estimate.stage = Stage::kEstimate;
  const auto least = [&](const ScenePlan& plan) {
    std::size_t refused = 0, limit = std::size_t{64} << 30;
    while (limit - refused > 1) {
      const std::size_t middle = refused + (limit - refused) / 2;
      try {
        plan_memory(plan, SceneSettings(estimate), backends, {middle, 1});
        limit = middle;
      } catch (const OutOfMemory&) {
        refused = middle;
      }
    }
    return limit;
  };
  EXPECT_EQ(least(masked), least(whole) + 2 * kPixels) << "one view at a time, the decoder's mask and ours";
}

/// A device that has no memory for any view.
class FullBackend : public FixedBackend {
 public:
  FullBackend() : FixedBackend(0) {}
  WorkMemory memory(const SweepShape&) const override { throw OutOfMemory("a view does not fit"); }
};

TEST(MemoryPlan, FusionNeedsNoMemoryOfTheEstimation) {
  SessionOptions options = options_with();
  const Camera camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}};
  const ScenePlan plan = make_plan(row_of_views(6, camera), {}, SceneSettings(options));
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  std::vector<std::unique_ptr<Backend>> large, full;
  large.push_back(std::make_unique<FixedBackend>(8 * kGiB));
  full.push_back(std::make_unique<FullBackend>());
  EXPECT_THROW(plan_memory(plan, SceneSettings(options), large, {4 * kGiB, 4}), OutOfMemory);
  EXPECT_THROW(plan_memory(plan, SceneSettings(options), full, {64 * kGiB, 4}), OutOfMemory);
  options.stage = Stage::kFuse;
  for (const auto* backends : {&large, &full}) {
    const MemoryPlan memory = plan_memory(plan, SceneSettings(options), *backends, {4 * kGiB, 4});
    EXPECT_LE(memory.peak, 4 * kGiB);
    EXPECT_EQ(memory.device_peak, 0u);
    EXPECT_GE(memory.check_at_once, 1);
  }
  try {
    plan_memory(plan, SceneSettings(options), full, {kGiB / 2, 4});
    ADD_FAILURE() << "too little even for fusion";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), testing::EndsWith("raise --memory-limit"))
        << "depth maps of other options do not count";
  }
}

/// A backend whose work grows with the planes, as that of semi-global matching over all of them.
class GrowingBackend : public FixedBackend {
 public:
  GrowingBackend() : FixedBackend(0) {}
  WorkMemory memory(const SweepShape& shape) const override {
    const bool all = shape.optimizer != Optimizer::kWinnerTakeAll;
    return {static_cast<std::size_t>(shape.planes) << (all ? 28 : 20), 0, 1};
  }
};

TEST(MemoryPlan, NamesTheOptionsThatHelp) {
  const SessionOptions options = options_with();
  const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options));
  const auto refusal = [&](std::unique_ptr<Backend> backend) -> std::string {
    std::vector<std::unique_ptr<Backend>> backends;
    backends.push_back(std::move(backend));
    try {
      plan_memory(plan, SceneSettings(options), backends, {std::size_t{1} << 30, 4});
    } catch (const OutOfMemory& error) {
      return error.what();
    }
    return "nothing is refused";
  };
  const std::string growing = refusal(std::make_unique<GrowingBackend>());
  EXPECT_THAT(growing, testing::HasSubstr("--planes"));
  EXPECT_THAT(growing, testing::HasSubstr("--optimizer winner"));
  const std::string fixed = refusal(std::make_unique<FixedBackend>(std::size_t{2} << 30));
  EXPECT_THAT(fixed, testing::HasSubstr("--max-image-size"));
  EXPECT_THAT(fixed, testing::Not(testing::HasSubstr("--planes")));
  EXPECT_THAT(fixed, testing::Not(testing::HasSubstr("--optimizer")));
}

}  // namespace
}  // namespace recon
