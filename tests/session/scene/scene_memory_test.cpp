// What the steps of a scene say that they take, and what they take.

#include <gtest/gtest.h>

#include <random>

#include "core/peak_memory.hpp"
#include "io/image/image_file.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_depth.hpp"
#include "refine/mean_normals.hpp"
#include "session/folder_fixture.hpp"
#include "session/products/stores.hpp"
#include "session/row_of_views.hpp"
#include "session/scene/plan_memory.hpp"
#include "session/scene/view_check.hpp"

namespace recon {
namespace {

constexpr int kWidth = 1500, kHeight = 1400;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;
constexpr Pinhole kCamera{kWidth, kHeight, 1500, 1500, 750, 700};

/// The work takes at most what it says, but for small things of each thread, and more than half of it.
template <class Work>
void expect_no_more_than(std::size_t bytes, const Work& work) {
  const std::size_t taken = added_memory(work);
  EXPECT_LE(taken, bytes + (std::size_t{2} << 20));
  EXPECT_GT(taken, bytes / 2) << "the sum is far off";
}

/// Maps of many small regions and holes.
ViewDepth noisy_maps() {
  ViewDepth maps = uninitialised_view(kWidth, kHeight);
  std::mt19937 random(1);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const bool known = x % 2 == 0 || y % 2 == 0;
      maps.depth(x, y) = known ? 4.0f + 0.001f * static_cast<float>(random() % 2) : kUnknown;
      maps.normal(x, y) = known ? Vec3f{0, 0, -1} : Vec3f{kUnknown, kUnknown, kUnknown};
      maps.confidence(x, y) = known ? 0.9f : kUnknown;
    }
  return maps;
}

TEST(SceneMemory, OfTheCheckOfAView) {
  const SessionOptions options = options_with();
  const Job job;
  const auto load = [] {
    const auto maps = std::make_shared<const ViewDepth>(noisy_maps());
    return DepthSource::Maps{maps->depth.view(), maps->normal.view(), maps};
  };
  const DepthSource view{kCamera, {}, 0, load};
  const ViewCheck check{view,
                        {view, view},
                        {},
                        [&] {
                          return count_agreement(view, {view, view}, options.check_consistency(job));
                        },
                        [](ImageView<const float> depth) { return checked_normals(depth, kCamera); }};
  const Camera camera{CameraModel::kPinhole, kWidth, kHeight, {1500, 1500, 750, 700}};
  const SceneSettings settings(options);
  expect_no_more_than(scene_memory(make_plan(row_of_views(2, camera), {}, settings), settings, {}).check,
                      [&] { check_view(check, noisy_maps(), settings.check); });
}

/// Sweeps and matches nothing.
class IdleBackend : public Backend {
 public:
  std::string name() const override { return "idle"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {}; }
  DepthEstimate sweep(const SweepProblem&) override {
    DepthEstimate estimate = uninitialised_estimate(kWidth, kHeight);
    estimate.depth.fill(4);
    estimate.cost.fill(0);
    estimate.confidence.fill(1);
    return estimate;
  }
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {}; }
  DisparityMap match(const PairProblem&) override { return {}; }
};

TEST(SceneMemory, OfTheFiltersOfASweep) {
  const SessionOptions options = options_with();
  Image<std::uint8_t> pixels(kWidth, kHeight, 7);
  SweepProblem problem{presets::plane_sweep(), {sized_image(kCamera, 1), {}}, {1, 1, 8}, {}};
  problem.reference.channel[0] = pixels.view();
  IdleBackend backend;
  const std::size_t counted = counted_bytes(1, [&] {
    filter_estimate(sized_image(kCamera, 1), problem.cost.window, options.resolved_filter(),
                    uninitialised_estimate(kWidth, kHeight));
  });
  expect_no_more_than(counted, [&] { estimate_view(backend, problem, options.resolved_filter()); });
}

TEST(SceneMemory, OfDepthFromPairs) {
  for (const int channels : {1, 3}) {
    Image<std::uint8_t> pixels(kWidth, kHeight, 7);
    PosedImage image = sized_image(kCamera, channels);
    image.channel.fill(pixels.view());
    RectifiedPair pair;
    pair.left = pair.right = kCamera;
    pair.left_from_reference = pair.right_from_source = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    pair.baseline = 0.1;
    pair.disparities = 64;
    const auto match = [](const PairProblem& problem) {
      return DisparityMap{Image<float>(problem.images.left.width, problem.images.left.height, 5.0f)};
    };
    const auto estimate = [&] {
      estimate_view_from_pairs(match, image, {{image, pair}, {image, pair}}, {}, {});
    };
    expect_no_more_than(counted_bytes(1, estimate), estimate);
  }
}

class SceneMemoryFiles : public Folder {};

TEST_F(SceneMemoryFiles, OfAPhoto) {
  std::mt19937 random(1);
  Image<Rgb8> photo(kWidth, kHeight);  // that cannot be compressed
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const auto bits = random();
      photo(x, y) = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                     static_cast<std::uint8_t>(bits >> 16)};
    }
  write_image(folder_ / "v0.png", photo.view());
  const Camera camera{CameraModel::kSimpleRadial, kWidth, kHeight, {1500, 750, 700, 0.01}};
  const ScenePlan plan = make_plan(row_of_views(2, camera), {}, SceneSettings(options_with()));
  PhotoStore store(folder_, false, 2, 0);
  expect_no_more_than(kPixels * PhotoStore::kReadBytes, [&] { store.channels(plan, 0); });
}

TEST_F(SceneMemoryFiles, OfMaps) {
  const Workspace workspace(folder_);
  MapStore store(workspace);
  const ViewDepth maps = noisy_maps();
  for (const auto& [kind, reading] : {std::pair{MapKind::kPhotometric, MapStore::kReadUnchecked},
                                      std::pair{MapKind::kGeometric, MapStore::kReadChecked}}) {
    const auto write = [&] { store.write_confidence(kind, "v", maps).commit(); };
    EXPECT_LE(added_memory(write), kPixels * MapStore::kWriteBytes);
    store.write_depth(kind, "v", maps).commit();
    store.write_normal(kind, "v", maps).commit();
    expect_no_more_than(kPixels * (ViewDepth::kPixelBytes + reading),
                        [&] { store.take(kind, "v", kCamera); });
  }
}

class NoPoints : public PointSink {
 public:
  void reserve(int) override {}
  void keep(int, const FusedPoints&) override {}
  void add(int) override {}
};

class NoisyMaps : public FusionMapLoader {
 public:
  std::shared_ptr<const FusionMaps> load(int) override {
    const auto maps = std::make_shared<const ViewDepth>(noisy_maps());
    const auto colour = std::make_shared<const Image<Rgb8>>(kWidth, kHeight, Rgb8{1, 2, 3});
    return std::make_shared<const FusionMaps>(FusionMaps{maps->depth.view(),
                                                         maps->normal.view(),
                                                         maps->confidence.view(),
                                                         colour->view(),
                                                         {maps, colour},
                                                         {}});
  }
};

TEST(SceneMemory, OfFusion) {
  std::vector<FusionView> views;
  for (int i = 0; i < 6; ++i) views.push_back({kCamera, {}, {}});
  for (int i = 0; i < 6; ++i)
    for (int j = std::max(0, i - 1); j < std::min(6, i + 2); ++j)
      if (j != i) views[static_cast<std::size_t>(i)].neighbours.push_back(j);
  FusionOptions options;
  options.max_cached_views = 3;
  NoisyMaps loader;
  NoPoints sink;
  expect_no_more_than(fusion_bytes({kPixels, 3, 2, 1, 0, FusionMemory::kHeld}),
                      [&] { fuse(views, loader, options, sink); });
}

TEST(SceneMemory, MarksThePixelsOfViewsBetweenTheirFirstAndTheirOwnTurn) {
  EXPECT_EQ(views_marked_at_once({}), 0u);
  EXPECT_EQ(views_marked_at_once({{}, {}, {}}), 2u);
  EXPECT_EQ(views_marked_at_once({{1}, {0, 2}, {1}}), 3u);
  EXPECT_EQ(views_marked_at_once({{3, 2}, {}, {0}, {0}}), 4u) << "0, 2 and 3, then 1 as well";
  EXPECT_EQ(views_marked_at_once({{4}, {3}, {}, {1}, {0}}), 4u);
}

}  // namespace
}  // namespace recon
