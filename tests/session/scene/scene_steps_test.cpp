// The steps of a scene on devices that the test watches.

#include "session/scene/scene_steps.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "session/options/options.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture and its backends

/// The cache has room for the channels of all views where they are their share of the budget, a third more
/// than that of images that are not halved.
TEST_F(SceneSteps, HalvedImagesOfAllViewsFitTheCache) {
  set_patches(options_.use(Method::kPlaneSweep), true);
  options_.use(Method::kPlaneSweep).patch_match.levels = 2;
  const auto job = begin("halved");
  job->products.photos.set_budget(kAmpleMemory);
  std::size_t bytes = 0;
  for (int view = 0; view < kViews; ++view) {
    const auto channels = job->products.photos.channels(job->plan, view);
    for (const Image<std::uint8_t>* image :
         {&channels->front(), &channels->coarser[0], &channels->coarser[1]})
      bytes += static_cast<std::size_t>(image->pitch()) * static_cast<std::size_t>(image->height());
  }
  job->products.photos.set_budget(0);
  job->products.photos.set_budget((bytes + 4) / 4 * 13);
  const Pinhole& camera = job->plan.view(0).camera;
  std::vector<std::uint64_t> ids;
  for (int pass = 0; pass < 2; ++pass)
    for (int view = 0; view < kViews; ++view) {
      const auto channels = job->products.photos.channels(job->plan, view);
      ASSERT_EQ(channels->coarser.size(), 2u);
      EXPECT_EQ(channels->coarser[1].width(), (camera.width + 3) / 4);
      PosedImage fine, coarse;
      set_pixels(*channels, 0, fine);
      set_pixels(*channels, 2, coarse);
      EXPECT_EQ(fine.channel[0].data, channels->front().view().data);
      EXPECT_EQ(coarse.channel[0].data, channels->coarser[1].view().data);
      EXPECT_NE(fine.id, coarse.id);
      if (pass == 0)
        ids.insert(ids.end(), {fine.id, coarse.id});
      else
        EXPECT_EQ(ids[2 * static_cast<std::size_t>(view)], fine.id) << "not kept";
    }
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()).size(), 2u * kViews);
  options_.method = Method::kSemiGlobal;
  const auto pairs = begin("pairs");
  pairs->products.photos.set_budget(kAmpleMemory);
  EXPECT_TRUE(pairs->products.photos.channels(pairs->plan, 0)->coarser.empty()) << "nothing reads them";
}

/// Patches on the whole path from photos to the cloud.
TEST_F(SceneSteps, PatchesFindWhatASweepFinds) {
  const auto points = [&](const std::map<std::string, std::string>& files) {
    return files.at("fused.ply").size();
  };
  const std::map<std::string, std::string> swept = expected_results();
  fs::remove_all(folder_ / "expected");
  set_patches(options_.use(Method::kPlaneSweep), true);
  const std::map<std::string, std::string> refined = expected_results();
  EXPECT_GE(points(refined), points(swept) / 2);
  EXPECT_NE(refined.at("fused.ply"), swept.at("fused.ply"));
}

/// Also where depths are interpolated.
TEST_F(SceneSteps, BoundsOfTheDepthHoldInAllMaps) {
  options_ = parse_options({});
  options_.quiet = true;
  int at_bounds = 0, filled = 0;
  for (int i = 0; i < 6; ++i) {
    const double near = 3.7 + 0.0371 * i, far = 5.1 + 0.0713 * i;
    options_.depth_min = near, options_.depth_max = far;
    Backends backends;
    add_backend(backends, "only");
    const auto job = begin("bounded" + std::to_string(i));
    prepare(*job, backends);
    SceneGraph graph(*job, backends);
    estimate_views(graph);
    check_views(graph);
    for (int view = 0; view < kViews; ++view) {
      if (job->products.result(Step::kCheck, view) == nullptr) continue;
      const Pinhole& camera = job->plan.view(view).camera;
      const std::string& name = job->plan.view(view).output_name;
      const auto before = job->products.maps.get(MapKind::kPhotometric, name, camera);
      const auto after = job->products.maps.get(MapKind::kGeometric, name, camera);
      for (int y = 0; y < camera.height; ++y)
        for (int x = 0; x < camera.width; ++x) {
          for (const float z : {before->depth(x, y), after->depth(x, y)}) {
            if (std::isnan(z)) continue;
            ASSERT_GE(static_cast<double>(z), near) << x << " " << y;
            ASSERT_LE(static_cast<double>(z), far) << x << " " << y;
            at_bounds += static_cast<double>(z) < 1.00001 * near || static_cast<double>(z) > far / 1.00001;
          }
          filled += std::isnan(before->depth(x, y)) && !std::isnan(after->depth(x, y));
        }
    }
  }
  EXPECT_GT(at_bounds, 100);
  EXPECT_GT(filled, 10);
}

TEST_F(SceneSteps, ImagesHaveAnIdAsLongAsTheyStayInMemory) {
  const auto job = begin("ids");
  PhotoStore& photos = job->products.photos;
  photos.set_budget(kAmpleMemory);
  const auto id = [&](int view) { return photos.channels(job->plan, view)->id; };
  const std::uint64_t first = id(0), second = id(1);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
  EXPECT_EQ(id(0), first);
  photos.set_budget(0);
  EXPECT_NE(id(0), first) << "pixels that are made again are not compared with those before";
}

TEST_F(SceneSteps, OfTwoDevicesUseBothAndGiveTheResultOfOne) {
  // Neither goes on before the other one has a view too.
  Event first_has_a_view, second_has_a_view;
  Backends backends;
  const WatchedBackend& first = add_backend(backends, "first", [&] {
    first_has_a_view.announce();
    second_has_a_view.wait();
  });
  const WatchedBackend& second = add_backend(backends, "second", [&] {
    second_has_a_view.announce();
    first_has_a_view.wait();
  });
  const auto job = begin("two");
  prepare(*job, backends);
  do_all(*job, backends);
  EXPECT_GT(first.sweeps(), 0);
  EXPECT_GT(second.sweeps(), 0);
  EXPECT_EQ(first.sweeps() + second.sweeps(), kViews) << "each view is swept once";
  std::multiset<std::string> devices;
  for (int view = 0; view < kViews; ++view)
    devices.insert(job->products.result(Step::kEstimate, view)->result.at("device"));
  EXPECT_EQ(devices.count("first"), static_cast<std::size_t>(first.sweeps()));
  EXPECT_EQ(devices.count("second"), static_cast<std::size_t>(second.sweeps()));
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, SearchTheDepthsOnAnyDevice) {
  searches_ = true;
  Backends backends;
  const WatchedBackend& first = add_backend(backends, "first");
  const WatchedBackend& second = add_backend(backends, "second");
  const auto job = begin("two");
  prepare(*job, backends);
  do_all(*job, backends);
  EXPECT_EQ(first.sweeps() + second.sweeps(), 2 * kViews) << "a coarse sweep and another one of each view";
  expect_equal(results(*job), expected_results());
}

/// Concurrent calls of a device, now and at most so far.
struct Load {
  int now = 0, max = 0;
};

TEST_F(SceneSteps, UseAllStreamsOfAllDevicesAndNoMore) {
  constexpr std::array<int, 2> kStreams = {2, 3};
  for (const Method method : {Method::kPlaneSweep, Method::kSemiGlobal}) {
    options_.method = method;
    std::array<Load, 2> loads;
    std::mutex mutex;
    Event all_streams_work;  // no call ends before
    Backends backends;
    for (std::size_t device = 0; device < loads.size(); ++device) {
      const auto before = [&, device] {
        {
          const std::lock_guard lock(mutex);
          loads[device].max = std::max(loads[device].max, ++loads[device].now);
          if (loads[0].max >= kStreams[0] && loads[1].max >= kStreams[1]) all_streams_work.announce();
        }
        all_streams_work.wait();
      };
      const auto after = [&, device] {
        const std::lock_guard lock(mutex);
        --loads[device].now;
      };
      add_backend(backends, "device", before, after, kStreams[device]);
    }
    const auto job = begin("streams" + std::to_string(static_cast<int>(method)));
    prepare(*job, backends);
    SceneGraph graph(*job, backends);
    estimate_views(graph);
    EXPECT_EQ(job->memory.threads_a_stream, 2) << "more threads than streams";
    for (std::size_t device = 0; device < loads.size(); ++device)
      EXPECT_EQ(loads[device].max, kStreams[device]) << "device " << device;
  }
}

TEST_F(SceneSteps, LeaveTheViewsOfADeviceThatFailsToTheOthers) {
  Event view_is_swept;
  Backends backends;
  const WatchedBackend& good = add_backend(
      backends, "good", [] {}, [&] { view_is_swept.announce(); });
  const WatchedBackend& lost = add_backend(backends, "lost", [&] {
    view_is_swept.wait();
    throw DeviceError("the device is lost");
  });
  const auto job = begin("left");
  prepare(*job, backends);
  do_all(*job, backends);
  EXPECT_EQ(lost.sweeps(), 0);
  EXPECT_EQ(good.sweeps(), kViews);
  EXPECT_TRUE(job->complete()) << "a device fails, not a view";
  EXPECT_EQ(job->findings.warnings,
            std::vector<std::string>{"lost fails, the other devices take its views: the device is lost"});
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, KeepFinishedViewsWhenTheLastDeviceFails) {
  std::atomic<int> begun = 0;
  Backends backends;
  const WatchedBackend& lost = add_backend(backends, "lost", [&] {
    if (++begun > 3) throw DeviceError("the device is lost");
  });
  {
    const auto job = begin("resumed");
    prepare(*job, backends);
    SceneGraph graph(*job, backends);
    try {
      estimate_views(graph);
      FAIL() << "the error of the device is not thrown on";
    } catch (const DeviceError& error) {
      EXPECT_STREQ(error.what(), "the device is lost");
    }
    EXPECT_EQ(lost.sweeps(), 3);
    EXPECT_TRUE(job->findings.failed.empty()) << "a device fails, not a view";
    EXPECT_EQ(job->products.results.count(Step::kEstimate).done, 3) << "what was swept is written";
  }
  // The same command again, without the device.
  Backends rest;
  const WatchedBackend& other = add_backend(rest, "other");
  const auto job = begin("resumed");
  prepare(*job, rest);
  do_all(*job, rest);
  const int kept = job->products.results.count(Step::kEstimate).kept;
  EXPECT_EQ(kept, 3);
  EXPECT_EQ(other.sweeps(), kViews - kept);
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, WriteTheModelBesideTheEstimationWhereMemoryAllows) {
  for (const bool beside : {true, false}) {
    Backends backends;
    add_backend(backends, "only");
    const auto job = begin(beside ? "beside" : "before");
    prepare(*job, backends);
    EXPECT_TRUE(job->memory.model_beside);
    fs::remove_all(job->products.workspace.path("sparse"));
    job->memory.model_beside = beside;
    SceneGraph graph(*job, backends);
    add_dense_model(graph);
    const fs::path file = job->products.workspace.path("sparse/images.bin");
    EXPECT_EQ(fs::exists(file), !beside) << "the estimation waits for it";
    estimate_views(graph);
    EXPECT_TRUE(fs::exists(file));
  }
}

TEST_F(SceneSteps, CheckOnTheDevicesThatDoNotFail) {
  Backends backends;
  const WatchedBackend& good = add_backend(backends, "good");
  WatchedBackend& lost = add_backend(backends, "lost");
  lost.fail_to_check();
  const auto job = begin("checked");
  prepare(*job, backends);
  do_all(*job, backends);
  EXPECT_GE(good.checks(), kViews / 2);
  EXPECT_GE(good.checked_normal_maps(), kViews / 2) << "normals of checked depths are computed by the host";
  EXPECT_GE(lost.checks(), 1);
  EXPECT_EQ(job->findings.warnings,
            std::vector<std::string>{"lost fails, the check continues without it: the device is lost"});
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, ComputeNormalsOnTheHostWhereTheDeviceFails) {
  Backends backends;
  add_backend(backends, "lost").fail_to_check();
  const auto job = begin("normals");
  prepare(*job, backends);
  do_all(*job, backends);
  EXPECT_TRUE(job->findings.failed.empty());
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, DoNotDependOnTheMemoryLimit) {
  Backends backends;
  add_backend(backends, "only");
  const auto job = begin("little");
  // The least limit that the plan accepts leaves nothing for caches and for work side by side.
  std::size_t refused = 0, limit = kAmpleMemory;
  while (limit - refused > 1) {
    const std::size_t middle = refused + (limit - refused) / 2;
    try {
      plan_memory(job->plan, SceneSettings(options_), backends, {middle, kThreads});
      limit = middle;
    } catch (const OutOfMemory&) {
      refused = middle;
    }
  }
  const MemoryPlan much = plan_memory(job->plan, SceneSettings(options_), backends, {kAmpleMemory, kThreads});
  prepare(*job, backends, limit);
  const MemoryPlan& little = job->memory;
  EXPECT_EQ(much.check_at_once, kThreads);
  EXPECT_EQ(little.check_at_once, 1);
  EXPECT_GE(much.fusion_views, kViews);
  EXPECT_LT(little.fusion_views, kViews);
  EXPECT_GT(much.writes_waiting, 0);
  EXPECT_EQ(little.writes_waiting, 0);
  EXPECT_EQ(much.threads_a_stream, 2);
  EXPECT_EQ(little.threads_a_stream, 1);
  EXPECT_GT(std::min(much.map_cache, much.photo_cache), 0u);
  EXPECT_EQ(std::max(little.map_cache, little.photo_cache), 0u);
  do_all(*job, backends);
  expect_equal(results(*job), expected_results());
}

/// The views whose work a plan adds up are those that the run then does.
TEST_F(SceneSteps, APlanHasTheWorkOfTheRun) {
  Backends backends;
  add_backend(backends, "only");
  for (const bool clean : {false, true}) {
    options_.clean = clean;
    const std::string output = clean ? "cleaned" : "whole";
    const auto first = begin(output);
    EXPECT_EQ(first->remaining_work().at(Step::kEstimate).size(), static_cast<std::size_t>(kViews));
    prepare(*first, backends);
    do_all(*first, backends);
    EXPECT_EQ(work_done(first->targets, first->products).at(Step::kCheck).size(),
              static_cast<std::size_t>(kViews));
    const auto nothing = begin(output);
    const SceneWork none = nothing->remaining_work();
    for (const auto& [step, views] : none) EXPECT_TRUE(views.empty()) << step_name(step);

    const ResultKey damaged = first->products.key(Step::kCheck, 3);
    fs::remove(first->products.workspace.path(Workspace::record_file(damaged.step, damaged.view)));
    const auto planned = begin(output), job = begin(output);
    const SceneWork plan = planned->remaining_work();
    prepare(*job, backends);
    do_all(*job, backends);
    const SceneWork done = work_done(job->targets, job->products);
    EXPECT_EQ(plan.at(Step::kEstimate), done.at(Step::kEstimate));
    EXPECT_EQ(plan.at(Step::kEstimate).empty(), !clean) << "maps that are removed have to be made again";
    EXPECT_THAT(plan.at(Step::kCheck), testing::IsSupersetOf(done.at(Step::kCheck)));
    EXPECT_THAT(done.at(Step::kCheck), testing::Contains(3));
    if (!clean) {
      EXPECT_EQ(plan.at(Step::kCheck), done.at(Step::kCheck));
    }
  }
}

}  // namespace
}  // namespace recon
