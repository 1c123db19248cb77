// Steps of a scene beside the estimation, as on a GPU.

#include <future>

#include "core/interrupt.hpp"
#include "session/scene_steps.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture and its backends

/// Waits until `condition` holds, but not forever; returns whether it does.
template <class Condition>
bool wait_until(const Condition& condition) {
  for (int tries = 0; tries < 500 && !condition(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

/// During its life, the next file that is created fails, once, by an Error.
template <class Error>
class FailingFile {
 public:
  FailingFile() {
    failed_ = false;
    set_fault_handler([](FaultPoint point) {
      if (point == FaultPoint::kFileCreate && !failed_.exchange(true)) throw Error("injected");
    });
  }
  ~FailingFile() { set_fault_handler(nullptr); }
  FailingFile(const FailingFile&) = delete;
  FailingFile& operator=(const FailingFile&) = delete;

  static bool failed() { return failed_; }

 private:
  inline static std::atomic<bool> failed_ = false;
};

/// No file can be created for a while.
class BlockedFiles {
 public:
  BlockedFiles() {
    blocked_ = true;
    set_fault_handler([](FaultPoint point) {
      if (point != FaultPoint::kFileCreate) return;
      for (int tries = 0; tries < 500 && blocked_; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      blocked_ = false;
    });
  }
  ~BlockedFiles() {
    release();
    set_fault_handler(nullptr);
  }
  BlockedFiles(const BlockedFiles&) = delete;
  BlockedFiles& operator=(const BlockedFiles&) = delete;

  /// Whether no file has been created yet.
  static bool blocked() { return blocked_; }
  static void release() { blocked_ = false; }

 private:
  inline static std::atomic<bool> blocked_ = false;
};

TEST_F(SceneSteps, TakeCheckedMapsBeforeTheyAreWritten) {
  Backends backends;
  add_backend(
      backends, "gpu", [] {}, [] {}, 1, std::size_t{1} << 20);
  const auto run = begin("beside");
  ViewChecks checks(*run, backends);
  estimate(*run, backends, kAmpleMemory);
  const BlockedFiles files;
  auto finished = std::async(std::launch::async, [&] { checks.finish(); });
  EXPECT_NE(checks.take(0, {}), nullptr);
  EXPECT_TRUE(files.blocked());
  files.release();
  finished.get();
  EXPECT_NE(checks.take(1, {}), nullptr);
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
  ViewFusion(*run, backends).finish();
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, FuseViewsBesideTheEstimationOfOthersOnAGpu) {
  std::optional<ViewFusion> fusion;
  std::atomic<int> begun = 0;
  // The last views are swept when others are fused.
  const auto wait_for_fusion = [&] {
    if (++begun < kViews - 4) return;
    for (int tries = 0; tries < 500 && fusion->fused() == 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  Backends backends;
  add_backend(
      backends, "gpu", wait_for_fusion, [] {}, 1, std::size_t{1} << 20);
  options_.selection.max_sources = 1;
  const auto run = begin("beside");
  ViewChecks checks(*run, backends);
  prepare(*run, backends);
  fusion.emplace(*run, backends);
  fusion->begin_beside(checks);
  estimate_views(*run, backends, &checks);
  EXPECT_GT(fusion->fused(), 0);
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
    ViewFusion fusion(*run, backends);
    if (beside) fusion.begin_beside(checks);
    estimate_views(*run, backends, &checks);
    checks.finish();
    fusion.finish();
    EXPECT_EQ(run->failed.size(), 1u);
    return results(*run);
  };
  expect_equal(fuse_without_a_view("beside", true), fuse_without_a_view("after", false));
}

TEST_F(SceneSteps, CountAViewAsFusedOnlyWhenItIs) {
  std::unique_ptr<SceneRun> run;
  std::optional<ViewFusion> fusion;
  std::atomic<int> begun = 0;
  int first_checked_after = 0, fused = -1;
  // The first view is checked when it and its sources are estimated, but its neighbours need more views.
  const auto checked = [&] { return fs::exists(run->workspace.path(run->record_file(Step::kCheck, 0))); };
  const auto look = [&] {
    if (++begun != first_checked_after + 1) return;
    EXPECT_TRUE(wait_until(checked));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    fused = fusion->fused();
  };
  Backends backends;
  add_backend(
      backends, "gpu", look, [] {}, 1, std::size_t{1} << 20);
  run = begin("beside");
  const std::set<int> first(run->plan.view(0).sources.begin(), run->plan.view(0).sources.end());
  first_checked_after = 1 + static_cast<int>(first.size());
  const std::vector<int> neighbours = run->plan.overlaps().front();
  EXPECT_TRUE(std::any_of(neighbours.begin(), neighbours.end(), [&](int neighbour) {
    const std::vector<int>& sources = run->plan.view(neighbour).sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](int source) { return source != 0 && !first.contains(source); });
  }));
  ViewChecks checks(*run, backends);
  prepare(*run, backends);
  fusion.emplace(*run, backends);
  fusion->begin_beside(checks);
  estimate_views(*run, backends, &checks);
  EXPECT_EQ(fused, 0);
  checks.finish();
  fusion->finish();
  EXPECT_EQ(fusion->fused(), kViews);
}

TEST_F(SceneSteps, DropTheFusionBesideTheEstimationAtAStop) {
  Backends backends;
  add_backend(
      backends, "gpu", [] {}, [] {}, 1, std::size_t{1} << 20);
  const auto run = begin("beside");
  ViewChecks checks(*run, backends);
  estimate(*run, backends, kAmpleMemory, &checks);
  checks.finish();
  std::stop_source stop;
  EXPECT_NE(checks.take(0, stop.get_token()), nullptr);
  stop.request_stop();
  EXPECT_EQ(checks.take(1, stop.get_token()), nullptr) << "though the view is checked";
}

TEST_F(SceneSteps, FuseAfterwardsWhenThereIsTooLittleMemoryBeside) {
  Backends backends;
  add_backend(
      backends, "gpu", [] {}, [] {}, 1, std::size_t{1} << 20);
  const auto run = begin("beside");
  ViewChecks checks(*run, backends);
  prepare(*run, backends);
  const FailingFile<OutOfMemory> file;  // the cloud is the next one
  ViewFusion fusion(*run, backends);
  fusion.begin_beside(checks);
  EXPECT_TRUE(wait_until(file.failed));
  estimate_views(*run, backends, &checks);
  checks.finish();
  fusion.finish();
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, EndTheEstimationWhenTheFusionBesideItCannotWrite) {
  std::optional<ViewChecks> checks;
  bool waited = false;
  const auto wait_for_failure = [&] {
    if (std::exchange(waited, true)) return;
    EXPECT_TRUE(wait_until([&] { return checks->failed(); }));
  };
  Backends backends;
  const WatchedBackend& gpu = add_backend(
      backends, "gpu", wait_for_failure, [] {}, 1, std::size_t{1} << 20);
  const auto run = begin("beside");
  checks.emplace(*run, backends);
  prepare(*run, backends);
  const FailingFile<OutputError> file;  // the cloud is the next one
  ViewFusion fusion(*run, backends);
  fusion.begin_beside(*checks);
  EXPECT_TRUE(wait_until(file.failed));
  estimate_views(*run, backends, &*checks);
  EXPECT_LT(gpu.sweeps(), kViews);
  EXPECT_THROW(checks->finish(), OutputError);
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

TEST_F(SceneSteps, RemoveMapsBesideTheEstimationOfOthersOnAGpu) {
  std::unique_ptr<SceneRun> run;
  std::atomic<int> begun = 0;
  const auto removed = [&run] {
    int views = 0;
    for (int view = 0; view < kViews; ++view) {
      const auto record = read_record(run->workspace.path(run->record_file(Step::kEstimate, view)));
      if (record && record->cleaned) ++views;
    }
    return views;
  };
  // The last view is swept when maps of another one are removed.
  const auto wait_for_removal = [&] {
    if (++begun < kViews) return;
    for (int tries = 0; tries < 500 && removed() == 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_GT(removed(), 0);
  };
  Backends backends;
  add_backend(
      backends, "gpu", wait_for_removal, [] {}, 1, std::size_t{1} << 20);
  options_.selection.max_sources = 1;
  std::map<std::string, std::string> expected = expected_results();
  EXPECT_EQ(
      std::erase_if(expected,
                    [](const auto& file) { return file.first.find(".photometric.") != std::string::npos; }),
      2u * kViews);
  options_.clean = true;
  run = begin("cleaned");
  ViewChecks checks(*run, backends);
  estimate(*run, backends, kAmpleMemory, &checks);
  checks.finish();
  EXPECT_EQ(removed(), kViews);
  ViewFusion(*run, backends).finish();
  expect_equal(results(*run), expected);
}

}  // namespace
}  // namespace recon
