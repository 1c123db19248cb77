// The steps of a scene on devices that the test watches.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "io/colmap_model.hpp"
#include "io/image_file.hpp"
#include "methods/admission.hpp"
#include "render/description_file.hpp"
#include "render/render.hpp"
#include "render/sparse_points.hpp"
#include "session/plan/plan_time.hpp"
#include "session/scene/fuse_views.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

constexpr int kViews = 12, kThreads = 4;
constexpr std::size_t kAmpleMemory = std::size_t{8} << 30;

std::string content(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

/// What one thread waits for and another one announces.
class Event {
 public:
  void announce() {
    const std::lock_guard lock(mutex_);
    announced_ = true;
    changed_.notify_all();
  }

  /// Waits, but not forever, and only once: a test fails then by what it asserts.
  void wait() {
    std::unique_lock lock(mutex_);
    if (!given_up_)
      given_up_ = !changed_.wait_for(lock, std::chrono::seconds(20), [this] { return announced_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool announced_ = false, given_up_ = false;
};

/// The CPU under another name and with any number of streams, which counts its sweeps and needs no memory in
/// plans. `before` and `after` are called around each admitted sweep or match.
class WatchedBackend : public Backend {
 public:
  using Hook = std::function<void()>;

  /// @param device_bytes  memory that a GPU needs, 0 for a processor
  explicit WatchedBackend(
      std::string name, Hook before = [] {}, Hook after = [] {}, int streams = 1,
      std::size_t device_bytes = 0)
      : name_(std::move(name)),
        device_bytes_(device_bytes),
        before_(std::move(before)),
        after_(std::move(after)),
        admission_(streams),
        cpus_(static_cast<std::size_t>(streams)) {
    for (auto& cpu : cpus_) cpu = make_cpu_backend({.threads = 2, .memory_limit = {}});
  }

  std::string name() const override { return name_; }
  int streams() const override { return admission_.streams(); }
  WorkMemory memory(const SweepShape&) const override { return {0, device_bytes_, 1}; }
  DepthEstimate sweep(const SweepProblem& problem) override {
    const auto permit = admission_.admit();
    before_();
    if (refused_ && refused_(problem)) throw InputError("refused");
    DepthEstimate estimate = cpu(permit).sweep(problem);
    ++sweeps_;
    after_();
    return estimate;
  }
  WorkMemory pair_memory(int, int, const PairOptions&) const override { return {}; }
  DisparityMap match(const PairProblem& problem) override {
    const auto permit = admission_.admit();
    before_();
    DisparityMap map = cpu(permit).match(problem);
    after_();
    return map;
  }

  Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                   const ConsistencyOptions& options) override {
    ++checks_;
    if (fails_to_check_) throw DeviceError("the device is lost");
    return Backend::count_agreement(reference, sources, options);
  }

  int sweeps() const { return sweeps_; }
  int checks() const { return checks_; }
  void fail_to_check() { fails_to_check_ = true; }
  void refuse(std::function<bool(const SweepProblem&)> which) { refused_ = std::move(which); }

 private:
  Backend& cpu(const Admission::Permit& permit) const {
    return *cpus_[static_cast<std::size_t>(permit.streams().front())];
  }

  const std::string name_;
  const std::size_t device_bytes_;
  const Hook before_, after_;
  Admission admission_;
  std::vector<std::unique_ptr<Backend>> cpus_;  ///< of each stream
  std::atomic<int> sweeps_ = 0, checks_ = 0;
  bool fails_to_check_ = false;
  std::function<bool(const SweepProblem&)> refused_;  ///< views that fail
};

using Backends = std::vector<std::unique_ptr<Backend>>;

template <class... Arguments>
WatchedBackend& add_backend(Backends& backends, Arguments&&... arguments) {
  auto backend = std::make_unique<WatchedBackend>(std::forward<Arguments>(arguments)...);
  WatchedBackend& result = *backend;
  backends.push_back(std::move(backend));
  return result;
}

/// Gives each test a folder of its own with a small rendered scene.
class SceneSteps : public testing::Test {
 protected:
  SceneSteps() {
    std::string name = (fs::temp_directory_path() / "scene_steps_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    const std::string file = RECON_SOURCE_DIR "/tests/cli/data/small_scene.json";
    const SceneDescription description = parse_description(content(file), file, kViews).scene;
    fs::create_directories(folder_ / "images");
    fs::create_directories(folder_ / "sparse");
    for (int i = 0; i < kViews; ++i)
      write_image(folder_ / "images" / description.views[static_cast<std::size_t>(i)].name,
                  render_view(description, i).image.view());
    write_colmap_model(folder_ / "sparse", sparse_scene(description), ColmapFormat::kText);
    options_.planes = 16;
    options_.selection.max_sources = 3;
    options_.quiet = true;
  }
  ~SceneSteps() override { fs::remove_all(folder_); }

  /// A run into the folder `output` whose model is read.
  std::unique_ptr<SceneRun> begin(const std::string& output) const {
    auto run =
        std::make_unique<SceneRun>(options_, SceneFolder{folder_, folder_ / "images", folder_ / "sparse"},
                                   Workspace(folder_ / output), kThreads);
    run->memory.limit = kAmpleMemory;
    read_scene(*run);
    return run;
  }

  static void prepare(SceneRun& run, const Backends& backends, std::size_t limit = kAmpleMemory) {
    run.memory = plan_memory(run.plan, run.options, backends, limit, kThreads);
    run.photos.set_budget(run.memory.photo_cache);
    const auto cache = std::make_shared<MapCache>(run.memory.map_cache);
    run.photometric = std::make_unique<MapStore>(run.workspace, MapKind::kPhotometric, cache);
    run.geometric = std::make_unique<MapStore>(run.workspace, MapKind::kGeometric, cache);
    prepare_views(run);
    write_dense_model(run);
  }

  static void estimate(SceneRun& run, const Backends& backends, std::size_t limit = kAmpleMemory,
                       ViewChecks* checks = nullptr) {
    prepare(run, backends, limit);
    estimate_views(run, backends, checks);
  }

  static void check_and_fuse(SceneRun& run) {
    ViewChecks(run, {}).finish();
    ViewFusion(run).finish();
  }

  /// The files of a run that has ended: all but the records, which hold times and names of devices.
  static std::map<std::string, std::string> results(const SceneRun& run) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(run.workspace.root())) {
      const std::string name = fs::relative(entry.path(), run.workspace.root()).string();
      if (entry.is_regular_file() && !name.starts_with("status/")) files[name] = content(entry.path());
    }
    return files;
  }

  /// The results of a run on one device with ample memory.
  std::map<std::string, std::string> expected_results() const {
    Backends backends;
    add_backend(backends, "only");
    const auto run = begin("expected");
    estimate(*run, backends);
    check_and_fuse(*run);
    return results(*run);
  }

  static void expect_equal(const std::map<std::string, std::string>& found,
                           const std::map<std::string, std::string>& expected) {
    ASSERT_TRUE(expected.contains("fused.ply"));
    EXPECT_EQ(found.size(), expected.size());
    for (const auto& [name, bytes] : expected) {
      const auto it = found.find(name);
      ASSERT_NE(it, found.end()) << name;
      EXPECT_TRUE(it->second == bytes) << name << " differs";
    }
  }

  fs::path folder_;
  SessionOptions options_;
};

/// The cache has room for the channels of all views where they are their share of the budget, a third more
/// than that of images that are not halved.
TEST_F(SceneSteps, HalvedImagesOfAllViewsFitTheCache) {
  options_.sweep_stages.patches = true;
  options_.sweep_stages.patch_match.levels = 2;
  const auto run = begin("halved");
  run->photos.set_budget(kAmpleMemory);
  std::size_t bytes = 0;
  for (int view = 0; view < kViews; ++view) {
    const auto channels = run->photos.channels(run->plan, view);
    for (const Image<std::uint8_t>* image :
         {&channels->front(), &channels->coarser[0], &channels->coarser[1]})
      bytes += static_cast<std::size_t>(image->pitch()) * static_cast<std::size_t>(image->height());
  }
  run->photos.set_budget(0);
  run->photos.set_budget((bytes + 4) / 4 * 13);
  const Pinhole& camera = run->plan.view(0).camera;
  std::vector<std::uint64_t> ids;
  for (int pass = 0; pass < 2; ++pass)
    for (int view = 0; view < kViews; ++view) {
      const auto channels = run->photos.channels(run->plan, view);
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
  pairs->photos.set_budget(kAmpleMemory);
  EXPECT_TRUE(pairs->photos.channels(pairs->plan, 0)->coarser.empty()) << "nothing reads them";
}

/// Patches on the whole path from photos to the cloud.
TEST_F(SceneSteps, PatchesFindWhatASweepFinds) {
  const auto points = [&](const std::map<std::string, std::string>& files) {
    return files.at("fused.ply").size();
  };
  const std::map<std::string, std::string> swept = expected_results();
  fs::remove_all(folder_ / "expected");
  options_.sweep_stages.patches = true;
  const std::map<std::string, std::string> refined = expected_results();
  EXPECT_GE(points(refined), points(swept) / 2);
  EXPECT_NE(refined.at("fused.ply"), swept.at("fused.ply"));
}

TEST_F(SceneSteps, ImagesHaveAnIdAsLongAsTheyStayInMemory) {
  const auto run = begin("ids");
  PhotoStore& photos = run->photos;
  photos.set_budget(kAmpleMemory);
  const auto id = [&](int view) { return photos.channels(run->plan, view)->id; };
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
  const auto run = begin("two");
  estimate(*run, backends);
  EXPECT_GT(first.sweeps(), 0);
  EXPECT_GT(second.sweeps(), 0);
  EXPECT_EQ(first.sweeps() + second.sweeps(), kViews) << "each view is swept once";
  std::multiset<std::string> devices;
  for (const auto& [name, state] : run->states) devices.insert(state.estimate->result.at("device"));
  EXPECT_EQ(devices.count("first"), static_cast<std::size_t>(first.sweeps()));
  EXPECT_EQ(devices.count("second"), static_cast<std::size_t>(second.sweeps()));
  check_and_fuse(*run);
  expect_equal(results(*run), expected_results());
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
    const auto run = begin("streams" + std::to_string(static_cast<int>(method)));
    estimate(*run, backends);
    EXPECT_EQ(run->memory.threads_a_stream, 2) << "more threads than streams";
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
  const auto run = begin("left");
  estimate(*run, backends);
  EXPECT_EQ(lost.sweeps(), 0);
  EXPECT_EQ(good.sweeps(), kViews);
  EXPECT_TRUE(run->complete()) << "a device fails, not a view";
  EXPECT_EQ(run->warnings,
            std::vector<std::string>{"lost fails, the other devices take its views: the device is lost"});
  check_and_fuse(*run);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, KeepFinishedViewsWhenTheLastDeviceFails) {
  std::atomic<int> begun = 0;
  Backends backends;
  const WatchedBackend& lost = add_backend(backends, "lost", [&] {
    if (++begun > 3) throw DeviceError("the device is lost");
  });
  {
    const auto run = begin("resumed");
    try {
      estimate(*run, backends);
      FAIL() << "the error of the device is not thrown on";
    } catch (const DeviceError& error) {
      EXPECT_STREQ(error.what(), "the device is lost");
    }
    EXPECT_EQ(lost.sweeps(), 3);
    EXPECT_TRUE(run->failed.empty()) << "a device fails, not a view";
    int finished = 0;
    for (const auto& [name, state] : run->states) finished += state.estimate.has_value();
    EXPECT_EQ(finished, 3) << "what was swept is written";
  }
  // The same command again, without the device.
  Backends rest;
  const WatchedBackend& other = add_backend(rest, "other");
  const auto run = begin("resumed");
  estimate(*run, rest);
  int kept = 0;
  for (const auto& [name, state] : run->states) kept += state.estimate_kept;
  EXPECT_EQ(kept, 3);
  EXPECT_EQ(other.sweeps(), kViews - kept);
  check_and_fuse(*run);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, CheckViewsBesideTheEstimationOfOthersOnAGpu) {
  std::unique_ptr<SceneRun> run;
  std::atomic<int> begun = 0;
  bool checked = false;
  // The last view is swept when another one has been checked.
  const auto wait_for_check = [&] {
    if (++begun < kViews) return;
    const fs::path records = fs::path(run->workspace.path(run->record_file(Step::kCheck, 0))).parent_path();
    for (int tries = 0; tries < 500 && !checked; ++tries) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(records, none))
        checked |= entry.path().extension() == ".json";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  Backends backends;
  add_backend(
      backends, "gpu", wait_for_check, [] {}, 1, std::size_t{1} << 20);
  run = begin("beside");
  ViewChecks checks(*run, backends);
  estimate(*run, backends, kAmpleMemory, &checks);
  EXPECT_TRUE(checked);
  checks.finish();
  ViewFusion(*run).finish();
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, FuseViewsBesideTheEstimationOfOthersOnAGpu) {
  std::optional<ViewFusion> fusion;
  std::atomic<int> begun = 0;
  // The last views are swept when others are fused.
  const auto wait_for_fusion = [&] {
    if (++begun < kViews - 4) return;
    for (int tries = 0; tries < 500 && fusion->begun() == 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  Backends backends;
  add_backend(
      backends, "gpu", wait_for_fusion, [] {}, 1, std::size_t{1} << 20);
  options_.selection.max_sources = 1;
  const auto run = begin("beside");
  ViewChecks checks(*run, backends);
  prepare(*run, backends);
  fusion.emplace(*run);
  fusion->begin_beside(checks);
  estimate_views(*run, backends, &checks);
  EXPECT_GT(fusion->begun(), 0);
  checks.finish();
  fusion->finish();
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, FuseAgainWithoutAViewThatFailsMeanwhile) {
  const auto fuse_without_a_view = [&](const char* output, bool beside) {
    Backends backends;
    WatchedBackend& gpu = add_backend(
        backends, "gpu", [] {}, [] {}, 1, std::size_t{1} << 20);
    auto run = begin(output);
    const Pose failing = run->plan.scene_view(kViews / 2).cam_from_world;
    gpu.refuse([failing](const SweepProblem& problem) {
      return problem.reference.cam_from_world.translation.x == failing.translation.x;
    });
    ViewChecks checks(*run, backends);
    prepare(*run, backends);
    ViewFusion fusion(*run);
    if (beside) fusion.begin_beside(checks);
    estimate_views(*run, backends, &checks);
    checks.finish();
    fusion.finish();
    EXPECT_EQ(run->failed.size(), 1u);
    return results(*run);
  };
  expect_equal(fuse_without_a_view("beside", true), fuse_without_a_view("after", false));
}

TEST_F(SceneSteps, EndTheEstimationWhenACheckBesideItFails) {
  std::optional<ViewChecks> checks;
  std::atomic<int> begun = 0;
  // A check fails before the last five views are swept; three other threads have the next ones already.
  const auto wait_for_failure = [&] {
    if (++begun < kViews - 4) return;
    for (int tries = 0; tries < 500 && !checks->failed(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  Backends backends;
  const WatchedBackend& gpu = add_backend(
      backends, "gpu", wait_for_failure, [] {}, 1, std::size_t{1} << 20);
  options_.selection.max_sources = 1;  // checks can begin early
  const auto run = begin("full");
  // Nothing can be written where a file is in the place of the folder.
  const fs::path previews = fs::path(run->workspace.path(Workspace::preview_file("a"))).parent_path();
  fs::create_directories(previews.parent_path());
  std::ofstream(previews) << "not a folder";
  checks.emplace(*run, backends);
  estimate(*run, backends, kAmpleMemory, &*checks);
  EXPECT_LT(gpu.sweeps(), kViews);
  EXPECT_THROW(checks->finish(), OutputError);
}

TEST_F(SceneSteps, CheckOnTheDevicesThatDoNotFail) {
  Backends backends;
  const WatchedBackend& good = add_backend(backends, "good");
  WatchedBackend& lost = add_backend(backends, "lost");
  lost.fail_to_check();
  const auto run = begin("checked");
  estimate(*run, backends);
  ViewChecks(*run, backends).finish();
  ViewFusion(*run).finish();
  EXPECT_GE(good.checks(), kViews / 2);
  EXPECT_GE(lost.checks(), 1);
  EXPECT_EQ(run->warnings,
            std::vector<std::string>{"lost fails, the check continues without it: the device is lost"});
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, DoNotDependOnTheMemoryLimit) {
  Backends backends;
  add_backend(backends, "only");
  const auto run = begin("little");
  // The least limit that the plan accepts leaves nothing for caches and for work side by side.
  std::size_t refused = 0, limit = kAmpleMemory;
  while (limit - refused > 1) {
    const std::size_t middle = refused + (limit - refused) / 2;
    try {
      plan_memory(run->plan, options_, backends, middle, kThreads);
      limit = middle;
    } catch (const OutOfMemory&) {
      refused = middle;
    }
  }
  const MemoryPlan much = plan_memory(run->plan, options_, backends, kAmpleMemory, kThreads);
  estimate(*run, backends, limit);
  const MemoryPlan& little = run->memory;
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
  check_and_fuse(*run);
  expect_equal(results(*run), expected_results());
}

double seconds_of(const TimePlan& plan, const std::string& step) {
  for (const auto& [name, seconds] : plan.steps)
    if (name == step) return seconds;
  return -1;
}

TEST_F(SceneSteps, ArePredictedInProportionToEarlierRuns) {
  const auto run = begin("out");
  Backends backends;
  add_backend(backends, "device");
  run->memory = plan_memory(run->plan, run->options, backends, kAmpleMemory, kThreads);
  const RemainingWork work = remaining_work(*run);
  PerformanceModel model;
  const auto plan = [&] { return plan_time(*run, work, backends, model, {}); };
  EXPECT_EQ(plan().source, TimeSource::kShipped);
  EXPECT_FALSE(learn_times(*run, work, backends, {{"fusion", 0.05}}, model)) << "too short to be noted";

  ASSERT_TRUE(learn_times(*run, work, backends, {{"depth maps", 5}, {"fusion", 2}}, model));
  EXPECT_EQ(plan().source, TimeSource::kRuns);
  EXPECT_NEAR(seconds_of(plan(), "depth maps"), 5, 1e-9);
  EXPECT_NEAR(seconds_of(plan(), "fusion"), 2, 1e-9);
  RemainingWork half = work;
  half.estimate.resize(work.estimate.size() / 2);
  EXPECT_NEAR(seconds_of(plan_time(*run, half, backends, model, {}), "depth maps"), 2.5, 0.5);

  // A calibration of the stage has nothing to do with what runs took beside shipped figures.
  StageTask task;
  task.stage = model.runs().begin()->first.substr(std::string("depth maps: ").size());
  task.radius = run->options.sweep.window / 2;
  task.work.calls = task.pixels = task.planes = 1;
  model.add(task, 100);
  EXPECT_EQ(plan().source, TimeSource::kCalibration);
  EXPECT_GT(seconds_of(plan(), "depth maps"), 100);
}

}  // namespace
}  // namespace recon
