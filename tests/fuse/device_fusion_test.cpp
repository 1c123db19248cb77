// A fusion with a device, for which the CPU takes the views that do not fit and the rows that are left.

#include "fuse/device_fusion.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "fuse/fusion.hpp"
#include "fuse/host_fusion.hpp"
#include "fusion_cases.hpp"

namespace recon {
namespace {

/// When a FakeDevice fails.
enum class Fails { kNever, kBegin, kMark, kPassOn, kBetweenRows };

/// Fuses as the CPU does, and keeps the maps that it has been given.
struct FakeDevice : DeviceFusion {
  explicit FakeDevice(const FusionOptions& fusion_options) : options(fusion_options) {}

  bool has(int view) const override {
    if (forgets && kept.contains(view)) return kept.erase(view), true;
    return kept.contains(view);
  }

  std::unique_ptr<FusionInProgress> begin(const FusionJob& job) override {
    if (job.reference.index == failing && fails == Fails::kBegin) throw DeviceError("begin");
    if (too_large.contains(job.reference.index)) return nullptr;
    if (at_once > 0 && in_progress == at_once) return nullptr;
    const auto lacks = [this](const FusionInput& input) {
      return !input.maps && !kept.contains(input.index);
    };
    if (lacks(job.reference) || std::any_of(job.neighbours.begin(), job.neighbours.end(), lacks))
      return nullptr;
    begun.push_back(job.reference.index);
    const auto keep = [this](const FusionInput& input) {
      EXPECT_EQ(input.maps == nullptr, has(input.index)) << "maps are passed where they are missing";
      if (input.maps) kept[input.index] = input.maps;
    };
    keep(job.reference);
    for (const FusionInput& neighbour : job.neighbours) keep(neighbour);
    return std::make_unique<View>(*this, job);
  }

  struct View : FusionInProgress {
    View(FakeDevice& fake, const FusionJob& begun_job)
        : device(fake),
          job(begun_job),
          fails(job.reference.index == fake.failing ? fake.fails : Fails::kNever) {
      ++device.in_progress;
      const auto add = [&](FusionInput& input) { input.maps = device.kept.at(input.index); };
      add(job.reference);
      for (FusionInput& neighbour : job.neighbours) add(neighbour);
    }
    ~View() override { --device.in_progress; }

    void mark() override {
      if (fails == Fails::kMark) throw DeviceError("mark");
      if (device.before_marks) device.before_marks(job.reference.index);
      // The points of the view before are passed on by then.
      if (job.reference.index > 0)
        device.wait_until([this] { return device.passing >= job.reference.index - 1; });
      UsedPixels own = *job.reference.used;  // those that `pass_on` begins with
      FusionJob marking = job;
      marking.reference.used = &own;
      Collected ignored;
      FusionProgress progress;
      HostFusion(device.options).fuse(marking, ignored, progress);
      device.change(device.marked, job.reference.index);
    }

    void pass_on(PointSink& sink, FusionProgress& progress) override {
      if (fails == Fails::kPassOn) throw DeviceError("pass on");
      if (device.before_points) device.before_points(job.reference.index);
      device.change(device.passing, job.reference.index);
      if (job.reference.index + 1 < RotatedViews::kCount)
        device.wait_until([this] { return device.marked > job.reference.index; });
      for (FusionInput& neighbour : job.neighbours) neighbour.used = nullptr;
      if (fails == Fails::kNever) return HostFusion(device.options).fuse(job, sink, progress);
      FusionView upper = *job.reference.view;
      upper.camera.height /= 2;
      job.reference.view = &upper;
      job.reference.maps = upper_rows(*job.reference.maps, upper.camera.height);
      HostFusion(device.options).fuse(job, sink, progress);
      throw DeviceError("between rows");
    }

    FakeDevice& device;
    FusionJob job;
    const Fails fails;
  };

  void change(int& last, int view) {
    const std::lock_guard lock(mutex);
    last = view;
    changed.notify_all();
  }

  template <class Condition>
  void wait_until(const Condition& condition) {
    constexpr std::chrono::seconds kLong{2};
    std::unique_lock lock(mutex);
    if (waits) waited += changed.wait_for(lock, kLong, condition) ? 1 : 0;
  }

  static std::shared_ptr<const FusionMaps> upper_rows(const FusionMaps& maps, int rows) {
    const auto upper = std::make_shared<FusionMaps>(maps);
    upper->depth.height = upper->normal.height = upper->confidence.height = upper->colour.height = rows;
    return upper;
  }

  const FusionOptions options;
  mutable std::map<int, std::shared_ptr<const FusionMaps>> kept;
  bool forgets = false;  ///< maps that it has said it has
  std::set<int> too_large;
  std::function<void(int view)> before_marks, before_points;
  int at_once = 0;  ///< views that it has memory for; 0: for any number
  std::vector<int> begun;
  int failing = -1;
  Fails fails = Fails::kNever;
  std::atomic<int> in_progress = 0;
  // Views overlap: one is marked after the points of the one before begin to be passed on, and before all
  // are.
  bool waits = false;
  std::mutex mutex;
  std::condition_variable changed;
  int marked = -1, passing = -1;  ///< the last ones
  int waited = 0;                 ///< times that it has not waited in vain
};

FusionOptions options_with(int spacing) {
  FusionOptions options;
  options.agreement = {0.01f, 40.0f, 1, 0.6f};
  options.spacing = spacing;
  return options;
}

Collected fused(RotatedViews& scene, const FusionOptions& options, FakeDevice* device = nullptr) {
  Collected cloud;
  const std::uint64_t count = fuse(scene.views, scene, options, cloud, device);
  EXPECT_EQ(count, cloud.points.size());
  return cloud;
}

/// What a device has to give for the views of a seed.
Collected fused_on_cpu(unsigned seed, const FusionOptions& options) {
  RotatedViews scene(seed);
  return fused(scene, options);
}

TEST(DeviceFusion, FusesAllViewsAndIsGivenTheirMapsOnce) {
  for (const int spacing : {1, 2}) {
    const FusionOptions options = options_with(spacing);
    RotatedViews scene(7), again(7);
    FakeDevice device(options);
    expect_same_points(fused(scene, options, &device), fused(again, options));
    EXPECT_EQ(device.begun, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(scene.loads, RotatedViews::kCount) << "maps on the device are not loaded again";
  }
}

TEST(DeviceFusion, LoadsAheadOnlyWhatTheDeviceLacks) {
  FusionOptions options = options_with(1);
  RotatedViews scene(7), again(7);
  const Collected expected = fused(again, options);
  options.reads_ahead = true;
  FakeDevice device(options);
  expect_same_points(fused(scene, options, &device), expected);
  EXPECT_EQ(scene.loads, RotatedViews::kCount);
}

TEST(DeviceFusion, LeavesViewsThatDoNotFitToTheCpu) {
  const FusionOptions options = options_with(2);
  RotatedViews scene(8), again(8);
  FakeDevice device(options);
  device.too_large = {1, 2};
  expect_same_points(fused(scene, options, &device), fused(again, options));
  EXPECT_EQ(device.begun, (std::vector<int>{0, 3, 4}));
  EXPECT_TRUE(scene.failures.empty());
}

TEST(DeviceFusion, LosesNoViewWhoseMapsLeaveTheDevice) {
  const FusionOptions options = options_with(1);
  RotatedViews scene(8), again(8);
  FakeDevice device(options);
  device.forgets = true;
  expect_same_points(fused(scene, options, &device), fused(again, options));
  EXPECT_TRUE(scene.failures.empty());
}

TEST(DeviceFusion, ContinuesOnTheCpuWhereTheDeviceFails) {
  const FusionOptions options = options_with(1);
  for (const auto& [fails, message] :
       {std::pair(Fails::kBegin, "begin"), std::pair(Fails::kMark, "mark"),
        std::pair(Fails::kPassOn, "pass on"), std::pair(Fails::kBetweenRows, "between rows")}) {
    RotatedViews scene(9), again(9);
    FakeDevice device(options);
    device.failing = 2;
    device.fails = fails;
    expect_same_points(fused(scene, options, &device), fused(again, options));
    EXPECT_EQ(scene.failures, std::vector<std::string>{message});
    EXPECT_LE(std::count_if(device.begun.begin(), device.begun.end(), [](int view) { return view > 2; }),
              fails == Fails::kPassOn || fails == Fails::kBetweenRows ? 1 : 0)
        << "it is not asked again; the next view has begun by then";
    EXPECT_EQ(device.in_progress, 0);
  }
}

TEST(DeviceFusion, MarksTheNextViewWhileThePointsOfOneArePassedOn) {
  for (const int spacing : {1, 2}) {
    const FusionOptions options = options_with(spacing);
    RotatedViews scene(7), again(7);
    FakeDevice device(options);
    device.waits = true;
    expect_same_points(fused(scene, options, &device), fused(again, options));
    EXPECT_EQ(device.waited, 2 * (RotatedViews::kCount - 1));
  }
}

TEST(DeviceFusion, OfOneThreadIsThatOfSeveral) {
  const FusionOptions options = options_with(1);
  const Collected expected = fused_on_cpu(8, options);
  for (const int threads : {1, 2}) {
    RotatedViews scene(8);
    FakeDevice device(options);
    expect_same_points(ThreadLimit(threads).run([&] { return fused(scene, options, &device); }), expected);
  }
}

TEST(DeviceFusion, WaitsForThePointsOfAViewWhereTheMemorySufficesForOne) {
  const FusionOptions options = options_with(1);
  RotatedViews scene(8), again(8);
  FakeDevice device(options);
  device.at_once = 1;
  expect_same_points(fused(scene, options, &device), fused(again, options));
  EXPECT_EQ(device.begun, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(scene.failures.empty());
}

TEST(DeviceFusion, PassesOnAllPointsWithTheLastView) {
  const FusionOptions options = options_with(1);
  RotatedViews scene(8);
  const Collected expected = fused_on_cpu(8, options);
  FakeDevice device(options);
  Collected cloud;
  FusionByViews fusion(scene.views, scene, options, cloud, &device);
  std::uint64_t count = 0;
  for (int i = 0; i < RotatedViews::kCount; ++i) count += fusion.fuse_next();
  EXPECT_EQ(count, expected.points.size());
  expect_same_points(cloud, expected);
}

/// A loop that waits for its other threads may take what waits for a place in its arena. That must not be the
/// next view, which waits for the points that the thread passes on.
TEST(DeviceFusion, PassesOnPointsWhileTheNextViewWaitsForAPlaceInTheArena) {
  const FusionOptions options = options_with(1);
  RotatedViews scene(8);
  const Collected expected = fused_on_cpu(8, options);
  FakeDevice device(options);
  Collected cloud;
  oneapi::tbb::task_arena arena(1);  // has two places
  std::latch in_loop(1), full(1), end_loop(1), leave(1);
  device.before_points = [&](int view) {
    if (view > 0) return;
    oneapi::tbb::task_group loop;
    oneapi::tbb::task_handle part = loop.defer([] {});
    const std::jthread elsewhere([&] {
      end_loop.wait();
      part = oneapi::tbb::task_handle();
    });
    in_loop.count_down();
    loop.wait();
  };
  FusionByViews fusion(scene.views, scene, options, cloud, &device);
  arena.execute([&] { fusion.fuse_next(); });
  in_loop.wait();
  const std::jthread other([&] {
    arena.execute([&] {
      full.count_down();
      leave.wait();
    });
  });
  full.wait();
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the next view waits by then
    end_loop.count_down();
  });
  for (int i = 1; i < RotatedViews::kCount; ++i) {
    EXPECT_NO_THROW(arena.execute([&] { fusion.fuse_next(); }));
    if (i == 1) leave.count_down();
  }
  expect_same_points(cloud, expected);
}

/// Both calls wait for their points in the only places of the arena.
TEST(DeviceFusion, OfTwoCallsInAnArenaOfTwoPlacesEnds) {
  const FusionOptions options = options_with(1);
  const Collected expected = fused_on_cpu(8, options);
  oneapi::tbb::task_arena arena(1);  // has two places
  std::barrier both(2);
  const auto call = [&] {
    RotatedViews scene(8);
    FakeDevice device(options);
    device.before_marks = [&](int view) {
      if (view <= 1) both.arrive_and_wait();
    };
    Collected cloud;
    arena.execute([&] { cloud = fused(scene, options, &device); });
    expect_same_points(cloud, expected);
  };
  const std::jthread other(call);
  call();
}

/// The sink may have some of the points already, so that the CPU must not make them again.
TEST(DeviceFusion, EndsWithTheErrorOfTheSink) {
  const FusionOptions options = options_with(1);
  struct Failing : Collected {
    void add(int) override {
      if (no_memory) throw OutOfMemory("for the points");
      throw OutputError("the disk is full");
    }
    bool no_memory = false;
  };
  for (const bool no_memory : {false, true}) {
    RotatedViews scene(9);
    FakeDevice device(options);
    Failing sink;
    sink.no_memory = no_memory;
    if (no_memory)
      EXPECT_THROW(fuse(scene.views, scene, options, sink, &device), OutOfMemory);
    else
      EXPECT_THROW(fuse(scene.views, scene, options, sink, &device), OutputError);
    EXPECT_TRUE(scene.failures.empty());
  }
}

TEST(HostFusion, MakesThePointsOfTheRowsThatAreLeft) {
  constexpr int kRows = 30, kDone = 13;
  for (const int spacing : {1, 2}) {
    FusionOptions options;
    options.spacing = spacing;
    PlaneViews scene(3, kRows);
    const auto job_of = [&](UsedPixels& own, UsedPixels& second, UsedPixels& third) {
      for (UsedPixels* used : {&own, &second, &third}) used->prepare(40, kRows);
      return FusionJob{
          {0, &scene.views[0], scene.load(0), &own},
          {{1, &scene.views[1], scene.load(1), &second}, {2, &scene.views[2], scene.load(2), &third}}};
    };
    UsedPixels used[6];
    Collected all, rest;
    FusionProgress progress_of_all, progress{kDone, 1000};
    HostFusion(options).fuse(job_of(used[0], used[1], used[2]), all, progress_of_all);
    HostFusion(options).fuse(job_of(used[3], used[4], used[5]), rest, progress);
    EXPECT_EQ(progress_of_all.rows, kRows);
    EXPECT_EQ(progress.rows, kRows);
    EXPECT_EQ(progress.points, 1000 + rest.points.size());
    const std::size_t points_a_row = 38 / spacing, before = points_a_row * ((kDone + spacing - 1) / spacing);
    ASSERT_EQ(all.points.size(), points_a_row * kRows / spacing);
    ASSERT_EQ(rest.points.size(), all.points.size() - before);
    Collected expected;
    expected.points.assign(all.points.begin() + static_cast<std::ptrdiff_t>(before), all.points.end());
    expect_same_points(rest, expected);
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < 40; ++x)
        ASSERT_TRUE(spacing == 1 || used[1].test(x, y) == used[4].test(x, y))
            << "of all rows, in the neighbour";
  }
}

}  // namespace
}  // namespace recon
