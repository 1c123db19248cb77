// The plan of a scene, its memory, and the model of its undistorted images, on a row of cameras.

#include "session/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"
#include "scene/camera.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// Views "v0" … in a row along x, 0.2 apart, that look along z at points at depth 4; ids fall as names rise.
Scene row_of_views(int count, const Camera& camera) {
  Scene scene;
  scene.camera_ids = {7};
  scene.cameras = {camera};
  for (int i = 0; i < count; ++i) {
    View view;
    view.id = static_cast<std::uint32_t>(100 - i);
    view.name = "v" + std::to_string(i) + ".png";
    view.cam_from_world.translation = {-0.2 * i, 0, 0};
    scene.views.push_back(view);
  }
  for (int p = 0; p < 60; ++p) {
    SparsePoint point;
    point.id = static_cast<std::uint64_t>(p + 1);
    point.position = {0.1 * (p % 10) - 0.2, 0.1 * (p / 10) - 0.25, 4.0 + 0.01 * p};
    for (int i = 0; i < count; ++i) {
      View& view = scene.views[static_cast<std::size_t>(i)];
      const auto pixel = Lens(camera).project(view.cam_from_world * point.position);
      if (!pixel || pixel->x < 0 || pixel->y < 0 || pixel->x > camera.width || pixel->y > camera.height)
        continue;
      point.track.push_back({i, static_cast<std::uint32_t>(view.observations.size())});
      view.observations.push_back({*pixel, point.id});
    }
    scene.points.push_back(std::move(point));
  }
  return scene;
}

const Camera kPinholeCamera{CameraModel::kPinhole, 200, 150, {150, 150, 100, 75}};
const Camera kRadialCamera{CameraModel::kSimpleRadial, 200, 150, {150, 100, 75, 0.08}};

SessionOptions options_with(int shard_index = 1, int shard_count = 1) {
  SessionOptions options;
  options.planes = 16;
  options.shard = {shard_index, shard_count};
  return options;
}

/// Every track element has to point at an observation of its point.
void expect_consistent(const Scene& scene) {
  std::size_t elements = 0, observations = 0;
  for (const SparsePoint& point : scene.points)
    for (const TrackElement& element : point.track) {
      const View& view = scene.views.at(static_cast<std::size_t>(element.view));
      EXPECT_EQ(view.observations.at(element.observation).point_id, point.id);
      ++elements;
    }
  for (const View& view : scene.views)
    for (const Observation& observation : view.observations) observations += observation.point_id != kNoPoint;
  EXPECT_EQ(elements, observations);
}

TEST(Plan, GivesEveryViewSourcesRangeAndPlanes) {
  const ScenePlan plan = make_plan(row_of_views(6, kPinholeCamera), {}, options_with());
  EXPECT_EQ(plan.active_views().size(), 6u);
  for (const int view : plan.active_views()) {
    const ViewPlan& it = plan.view(view);
    EXPECT_EQ(it.planes, 16);
    EXPECT_TRUE(it.unchanged);
    EXPECT_LT(it.range.near, 4.0);
    EXPECT_GT(it.range.far, 4.6);
    EXPECT_FALSE(it.sources.empty());
    const PlaneSet planes = plane_set(it);
    EXPECT_NEAR(1 / inverse_depth(planes, 0), it.range.far, 1e-4);
    EXPECT_NEAR(1 / inverse_depth(planes, 15), it.range.near, 1e-4);
  }
}

TEST(Plan, GivesEveryViewRectifiedPairsWithItsSources) {
  SessionOptions options;
  options.method = Method::kSemiGlobal;
  const ScenePlan plan = make_plan(row_of_views(6, kPinholeCamera), {}, options);
  EXPECT_EQ(plan.active_views().size(), 6u);
  for (const int view : plan.active_views()) {
    const ViewPlan& it = plan.view(view);
    EXPECT_EQ(it.planes, 0);
    ASSERT_EQ(it.pairs.size(), it.sources.size());
    for (std::size_t i = 0; i < it.pairs.size(); ++i) {
      EXPECT_EQ(it.pairs[i].source, it.sources[i]);
      EXPECT_NEAR(it.pairs[i].pair.baseline, 0.2 * std::abs(it.pairs[i].source - view), 1e-12);
      // f b / z over the depths, and one more at each end.
      const double f_b = 150 * it.pairs[i].pair.baseline;
      EXPECT_NEAR(it.pairs[i].pair.disparities, f_b / it.range.near - f_b / it.range.far + 3, 1.5);
    }
  }
}

TEST(Plan, ShardsArePartsOfTheWholeWhateverIsLeftOut) {
  const Scene scene = row_of_views(6, kPinholeCamera);
  std::multiset<std::string> names;
  for (int index = 1; index <= 3; ++index) {
    // Only the first shard knows that a photo is bad.
    const std::vector<LeftOut> left_out =
        index == 1 ? std::vector<LeftOut>{{"v0.png", "bad"}} : std::vector<LeftOut>{};
    const ScenePlan plan = make_plan(scene, left_out, options_with(index, 3));
    for (const int view : plan.active_views()) names.insert(plan.name(view));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("v1.png", "v2.png", "v3.png", "v4.png", "v5.png"));
}

TEST(Plan, LeavesViewsOutAsReferenceAndAsSource) {
  const ScenePlan plan = make_plan(row_of_views(5, kPinholeCamera), {{"v2.png", "gone"}}, options_with());
  ASSERT_EQ(plan.views.size(), 4u);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    EXPECT_NE(plan.scene.views[i].name, "v2.png");
    for (const int source : plan.views[i].sources) EXPECT_LT(source, 4);
  }
  expect_consistent(plan.scene);
}

TEST(Plan, SaysWhyNothingCanBeDone) {
  EXPECT_THROW(make_plan(row_of_views(1, kPinholeCamera), {}, options_with()), InputError);
  SessionOptions nothing = options_with();
  nothing.views = "w*";
  EXPECT_THROW(make_plan(row_of_views(3, kPinholeCamera), {}, nothing), InputError);
}

TEST(Plan, NamesUndistortedImagesByAFormatThatCanBeWritten) {
  Scene scene = row_of_views(3, kRadialCamera);
  scene.views[1].name = "v1.TIF";
  scene.views[2].name = "v2.JPG";
  const ScenePlan plan = make_plan(scene, {}, options_with());
  EXPECT_FALSE(plan.views[0].unchanged);
  EXPECT_EQ(plan.views[0].output_name, "v0.png");
  EXPECT_EQ(plan.views[1].output_name, "v1.TIF.png");
  EXPECT_EQ(plan.views[2].output_name, "v2.JPG");
}

TEST(Plan, GivesConvertedImagesNamesOfTheirOwn) {
  Scene scene = row_of_views(4, kRadialCamera);
  const std::vector<std::string> names = {"a.tif", "a.tif.png", "b.png", "c.tif"};
  for (std::size_t i = 0; i < names.size(); ++i) scene.views[i].name = names[i];
  const ScenePlan plan = make_plan(scene, {}, options_with());
  EXPECT_EQ(plan.views[0].output_name, "a.tif.1.png");
  EXPECT_EQ(plan.views[1].output_name, "a.tif.png");
  EXPECT_EQ(plan.views[2].output_name, "b.png");
  EXPECT_EQ(plan.views[3].output_name, "c.tif.png");
}

TEST(Plan, RefusesACloudOfViewsWithoutTheirSources) {
  SessionOptions options = options_with();
  options.views = "v2*";
  EXPECT_THROW(make_plan(row_of_views(5, kPinholeCamera), {}, options), InputError);
  options.stage = Stage::kEstimate;
  EXPECT_EQ(make_plan(row_of_views(5, kPinholeCamera), {}, options).views_in_scope().size(), 1u);
}

TEST(DenseModel, MovesObservationsToWherePointsAreSeenWithoutDistortion) {
  const ScenePlan plan = make_plan(row_of_views(4, kRadialCamera), {}, options_with());
  const Scene dense = undistorted_scene(plan);
  expect_consistent(dense);
  ASSERT_EQ(dense.cameras.size(), 1u);
  EXPECT_EQ(dense.cameras[0].model, CameraModel::kPinhole);
  EXPECT_EQ(dense.camera_ids[0], 7u);
  std::size_t count = 0;
  for (const SparsePoint& point : dense.points)
    for (const TrackElement& element : point.track) {
      const View& view = dense.views[static_cast<std::size_t>(element.view)];
      const auto pixel = Lens(dense.cameras[0]).project(view.cam_from_world * point.position);
      EXPECT_NEAR(view.observations[element.observation].pixel.x, pixel->x, 1e-4);
      EXPECT_NEAR(view.observations[element.observation].pixel.y, pixel->y, 1e-4);
      ++count;
    }
  EXPECT_GT(count, 100u);
}

TEST(Plan, HalvesTheImagesOfADraftOnly) {
  const auto size = [](Quality quality, int max_image_size) {
    SessionOptions options = options_with();
    options.quality = quality;
    options.max_image_size = max_image_size;
    const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, options);
    const Pinhole& camera = plan.view(0).camera;
    return std::pair(camera.width, camera.height);
  };
  EXPECT_EQ(size(Quality::kDraft, 0), std::pair(100, 75));
  EXPECT_EQ(size(Quality::kNormal, 0), std::pair(200, 150));
  EXPECT_EQ(size(Quality::kHigh, 0), std::pair(200, 150));
  EXPECT_EQ(size(Quality::kDraft, 160), std::pair(160, 120)) << "a size that is given stays";
}

TEST(DenseModel, CountsImagesAlikeByOrderAndById) {
  const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, options_with());
  const Scene dense = undistorted_scene(plan);
  const std::vector<int> indices = dense_indices(plan);
  for (std::size_t i = 0; i < plan.views.size(); ++i)
    EXPECT_EQ(dense.views[static_cast<std::size_t>(indices[i])].name, plan.scene.views[i].name);
  for (std::size_t i = 1; i < dense.views.size(); ++i) EXPECT_LT(dense.views[i - 1].id, dense.views[i].id);
}

TEST(DenseModel, HasOnlyTheViewsThatAreNeeded) {
  SessionOptions options = options_with();
  options.views = "v0.png";
  options.selection.max_sources = 1;
  options.stage = Stage::kEstimate;
  const ScenePlan plan = make_plan(row_of_views(5, kPinholeCamera), {}, options);
  const Scene dense = undistorted_scene(plan);
  EXPECT_EQ(dense.views.size(), 2u);
  EXPECT_EQ(dense.points.size(), plan.scene.points.size());
  expect_consistent(dense);
}

/// A backend that takes a fixed number of bytes.
class FixedBackend : public Backend {
 public:
  explicit FixedBackend(std::size_t bytes) : bytes_(bytes) {}
  std::string name() const override { return "fixed"; }
  int streams() const override { return 1; }
  WorkMemory memory(const SweepShape&) const override { return {bytes_, 0, 1}; }
  DepthEstimate sweep(const SweepProblem&) override { return {}; }
  WorkMemory pair_memory(int, int, const PairOptions&) const override { return {bytes_, 0, 1}; }
  DisparityMap match(const PairProblem&) override { return {}; }

 private:
  std::size_t bytes_;
};

TEST(Plan, LimitsThePlanesOfAutoAndSaysSo) {
  SessionOptions options;
  const auto plan_of = [&](double near) {
    options.depth = {near, 40.0};
    return make_plan(row_of_views(4, kPinholeCamera), {}, options);
  };
  // Cameras up to 0.6 apart, f = 150: the pixels move by 90 / near, less 2 at the far end.
  const ScenePlan wide = plan_of(4.0);
  for (const ViewPlan& view : wide.views) EXPECT_LT(view.planes, 30);
  EXPECT_EQ(plane_limit_note(wide), "");
  const ScenePlan close = plan_of(0.05);
  for (const ViewPlan& view : close.views) EXPECT_EQ(view.planes, kMaxAutoPlanes);
  EXPECT_THAT(plane_limit_note(close), HasSubstr("limited to 256"));
  EXPECT_THAT(plane_limit_note(close), HasSubstr("in 4 views; --planes N"));
  options.planes = 16;
  EXPECT_EQ(plane_limit_note(plan_of(0.05)), "");
}

TEST(Plan, OfPatchesSweepsHalvedImagesWithFewerPlanes) {
  SessionOptions options, patches = parse_options({});
  options.depth = patches.depth = DepthRangeOptions{0.4, 40.0};
  patches.sweep_stages.patch_match.levels = 2;
  const auto plan_of = [](int width, int height, const SessionOptions& given) {
    const Camera camera{CameraModel::kPinhole, width, height, {150, 150, 0.5 * width, 0.5 * height}};
    return make_plan(row_of_views(4, camera), {}, given);
  };
  for (const auto& [width, height, levels] :
       {std::array{661, 641, 2}, {661, 640, 2}, {661, 639, 1}, {320, 703, 1}, {319, 703, 0}}) {
    const ScenePlan swept = plan_of(width, height, options), plan = plan_of(width, height, patches);
    for (std::size_t i = 0; i < plan.views.size(); ++i) {
      EXPECT_EQ(swept.views[i].levels, 0);
      EXPECT_EQ(plan.views[i].levels, levels) << width << " " << height;
      EXPECT_EQ(plan.views[i].planes, std::clamp(swept.views[i].wanted_planes >> levels, 32, 256));
    }
    const SweepProblem problem = sweep_problem(plan, 0, patches);
    EXPECT_EQ(problem.stages.patch_match.levels, levels);
    ASSERT_EQ(problem.coarser.size(), static_cast<std::size_t>(levels));
    int size = 1;
    for (const SweepImages& images : problem.coarser) {
      size *= 2;
      ASSERT_EQ(images.sources.size(), problem.sources.size());
      for (const PosedImage* image : {&images.reference, &images.sources.back()}) {
        EXPECT_EQ(image->camera.width, (width + size - 1) / size);
        EXPECT_EQ(image->camera.height, (height + size - 1) / size);
        EXPECT_EQ(image->camera.fx, 150.0 / size);
      }
    }
    EXPECT_TRUE(sweep_problem(swept, 0, options).coarser.empty());
  }
  patches.planes = 16;
  EXPECT_EQ(plan_of(661, 641, patches).views[0].planes, 16)
      << "planes that are given are those of the coarse sweep";
}

TEST(MemoryPlan, CountsHalvedImages) {
  SessionOptions options = options_with(), patches = options;
  patches.sweep_stages.patches = true;
  const Camera camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}};
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FixedBackend>(std::size_t{500} << 20));
  const auto cache = [&](const SessionOptions& of) {
    return plan_memory(make_plan(row_of_views(6, camera), {}, of), of, backends, std::size_t{64} << 30, 4)
        .photo_cache;
  };
  constexpr std::size_t kPixels = std::size_t{6} * (6016 + 64) * 4000;  // rows are padded
  EXPECT_EQ(cache(options), 4 * kPixels);
  EXPECT_EQ(cache(patches), 4 * kPixels + kPixels / 3);
}

TEST(MemoryPlan, StaysWithinItsLimitOrRefuses) {
  SessionOptions options = options_with();
  const ScenePlan plan = make_plan(
      row_of_views(6, Camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}}), {}, options);
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(std::make_unique<FixedBackend>(std::size_t{500} << 20));
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  EXPECT_THROW(plan_memory(plan, options, backends, kGiB, 4), OutOfMemory);
  EXPECT_GT(plan_memory(plan, options, backends, 2200 * (kGiB >> 10), 4).fusion_files, 0u)
      << "fusion does not hold six views in memory";
  EXPECT_EQ(plan_memory(plan, options, backends, 64 * kGiB, 4).fusion_files, 0u);
  for (const std::size_t limit : {4 * kGiB, 64 * kGiB}) {
    const MemoryPlan memory = plan_memory(plan, options, backends, limit, 16);
    EXPECT_LE(memory.peak, limit);
    EXPECT_LE(memory.map_cache + memory.photo_cache, limit);
    EXPECT_GE(memory.fusion_views, 2);
    EXPECT_GE(memory.check_at_once, 1);
  }
  SessionOptions paired = options;
  paired.planes.reset();
  paired.method = Method::kSemiGlobal;
  const ScenePlan pairs = make_plan(plan.scene, {}, paired);
  EXPECT_THROW(plan_memory(pairs, paired, backends, kGiB, 4), OutOfMemory);
  EXPECT_LE(plan_memory(pairs, paired, backends, 4 * kGiB, 4).peak, 4 * kGiB);
  options.stage = Stage::kEstimate;
  EXPECT_LE(plan_memory(plan, options, backends, 2 * kGiB, 16).peak, 2 * kGiB);
  EXPECT_EQ(plan_memory(plan, options, backends, 2 * kGiB, 16).threads_a_stream, 1);
  EXPECT_EQ(plan_memory(plan, options, backends, 64 * kGiB, 16).threads_a_stream, 2);
}

TEST(MemoryPlan, CountsTheFilesThatAreThereAtATime) {
  constexpr int kViews = 10;
  ScenePlan plan = make_plan(row_of_views(kViews, kPinholeCamera), {}, options_with());
  // While view i is checked, there are i + 1 maps after the check, and those before it of view i - 1 and
  // later.
  for (int i = 0; i < kViews; ++i) {
    std::vector<int>& sources = plan.views[static_cast<std::size_t>(i)].sources;
    sources.clear();
    if (i > 0) sources.push_back(i - 1);
    if (i + 1 < kViews) sources.push_back(i + 1);
  }
  const auto& camera = plan.view(0).camera;
  const std::uint64_t maps = 20ull * static_cast<unsigned>(camera.width * camera.height);
  SessionOptions clean = options_with();
  clean.clean = true;
  EXPECT_EQ(output_bytes(plan, options_with()) - output_bytes(plan, clean),
            (2 * kViews - (kViews + 2)) * maps);
}

TEST(MemoryPlan, CountsMasks) {
  const SessionOptions options = options_with();
  Scene scene = row_of_views(4, Camera{CameraModel::kPinhole, 6000, 4000, {4500, 4500, 3000, 2000}});
  const ScenePlan whole = make_plan(scene, {}, options);
  for (View& view : scene.views)
    if (view.name != "v1.png") view.mask_hash = "hash";
  const ScenePlan masked = make_plan(scene, {}, options);
  constexpr std::size_t kPixels = std::size_t{6000} * 4000;
  EXPECT_EQ(output_bytes(masked, options), output_bytes(whole, options) + 3 * kPixels)
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
        plan_memory(plan, estimate, backends, middle, 1);
        limit = middle;
      } catch (const OutOfMemory&) {
        refused = middle;
      }
    }
    return limit;
  };
  EXPECT_EQ(least(masked), least(whole) + 2 * kPixels) << "one view at a time, the decoder's mask and ours";
}

/// A backend whose work grows with the planes, as that of semi-global matching over all of them.
class GrowingBackend : public FixedBackend {
 public:
  GrowingBackend() : FixedBackend(0) {}
  WorkMemory memory(const SweepShape& shape) const override {
    const bool all = shape.optimizer != SweepOptimizer::kWinnerTakeAll;
    return {static_cast<std::size_t>(shape.planes) << (all ? 28 : 20), 0, 1};
  }
};

TEST(MemoryPlan, NamesTheOptionsThatHelp) {
  const SessionOptions options = options_with();
  const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, options);
  const auto refusal = [&](std::unique_ptr<Backend> backend) -> std::string {
    std::vector<std::unique_ptr<Backend>> backends;
    backends.push_back(std::move(backend));
    try {
      plan_memory(plan, options, backends, std::size_t{1} << 30, 4);
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

TEST(DenseModel, MovesObservationsAsOneByOneAndDropsThoseOutside) {
  Scene scene = row_of_views(4, kRadialCamera);
  for (View& view : scene.views)
    for (const Vec2d pixel : {Vec2d{0.5, 0.5}, Vec2d{100, 0.5}, Vec2d{0.5, 75}, Vec2d{-3, 75}})
      view.observations.push_back({pixel, kNoPoint});
  const ScenePlan plan = make_plan(scene, {}, options_with());
  const Scene dense = undistorted_scene(plan);
  std::size_t dropped = 0;
  for (std::size_t v = 0; v < scene.views.size(); ++v) {
    const Pinhole target = plan.views[v].camera;
    std::vector<Observation> expected;
    for (const Observation& observation : scene.views[v].observations) {
      const auto ray = Lens(kRadialCamera).unproject(observation.pixel);
      const Vec2d pixel = target.project(*ray);
      if (pixel.x >= 0 && pixel.y >= 0 && pixel.x <= target.width && pixel.y <= target.height)
        expected.push_back({pixel, observation.point_id});
    }
    dropped += scene.views[v].observations.size() - expected.size();
    ASSERT_EQ(dense.views[v].observations.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(dense.views[v].observations[i].pixel.x, expected[i].pixel.x);
      EXPECT_EQ(dense.views[v].observations[i].pixel.y, expected[i].pixel.y);
      EXPECT_EQ(dense.views[v].observations[i].point_id, expected[i].point_id);
    }
  }
  EXPECT_GT(dropped, 0u);
  expect_consistent(dense);
}

}  // namespace
}  // namespace recon
