// Steps of a scene beside the estimation, as on a GPU.

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

/// Number of views whose points are all made.
int fused_views(const SceneGraph& graph) {
  return graph.progress[SceneGraph::kFusion].done();
}

/// A device of one stream that needs memory of its own.
WatchedBackend& add_gpu(Backends& backends, WatchedBackend::Hook before) {
  return add_backend(
      backends, "gpu", std::move(before), [] {}, 1, std::size_t{1} << 20);
}

TEST_F(SceneSteps, FuseCheckedMapsBeforeTheyAreWritten) {
  std::optional<SceneGraph> graph;
  Backends backends;
  add_gpu(backends, [] {});
  const auto run = begin("beside");
  prepare(*run, backends);
  EXPECT_TRUE(run->memory.keeps_maps);
  run->memory.checks_beside = 0;  // but the fusion is beside them
  graph.emplace(*run, backends);
  estimate_views(*graph);
  // No file of a check gets its name before a view is fused.
  static const SceneGraph* watched;
  watched = &*graph;
  static std::atomic<bool> fused;
  fused = false;
  set_fault_handler([](FaultPoint point) {
    if (point == FaultPoint::kFileCommit)
      fused = fused || wait_until([] { return fused_views(*watched) > 0; });
  });
  check_views(*graph);
  set_fault_handler(nullptr);
  EXPECT_TRUE(fused);
  fuse_views(*graph);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, CheckViewsBesideTheEstimationOfOthersOnAGpu) {
  std::unique_ptr<SceneRun> run;
  std::atomic<int> begun = 0;
  std::atomic<bool> checked = false;
  // The last view is swept when another one has been checked.
  const auto wait_for_check = [&] {
    if (++begun < kViews) return;
    const fs::path records =
        fs::path(run->workspace.path(Workspace::record_file(Step::kCheck, run->plan.view(0).output_name)))
            .parent_path();
    checked = wait_until([&] {
      std::error_code none;
      const auto entries = fs::directory_iterator(records, none);
      return std::any_of(fs::begin(entries), fs::end(entries),
                         [](const auto& entry) { return entry.path().extension() == ".json"; });
    });
  };
  Backends backends;
  add_gpu(backends, wait_for_check);
  run = begin("beside");
  prepare(*run, backends);
  do_all(*run, backends);
  EXPECT_TRUE(checked);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, FuseViewsBesideTheEstimationOfOthersOnAGpu) {
  std::optional<SceneGraph> graph;
  std::atomic<int> begun = 0;
  // The last views are swept when others are fused.
  const auto wait_for_fusion = [&] {
    if (++begun >= kViews - 4) wait_until([&] { return fused_views(*graph) > 0; });
  };
  Backends backends;
  add_gpu(backends, wait_for_fusion);
  options_.selection.max_sources = 1;
  const auto run = begin("beside");
  prepare(*run, backends);
  graph.emplace(*run, backends);
  estimate_views(*graph);
  EXPECT_GT(fused_views(*graph), 0);
  check_views(*graph);
  fuse_views(*graph);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, FuseAgainWithoutAViewThatFailsMeanwhile) {
  const auto fuse_without_a_view = [&](const char* output, bool beside) {
    Backends backends;
    WatchedBackend& gpu = add_gpu(backends, [] {});
    auto run = begin(output);
    const Pose failing = run->plan.scene_view(kViews / 2).cam_from_world;
    gpu.refuse([failing](const SweepProblem& problem) {
      return problem.reference.cam_from_world.translation.x == failing.translation.x;
    });
    prepare(*run, backends);
    run->memory.fusion_beside = beside;
    do_all(*run, backends);
    EXPECT_EQ(run->failed.size(), 1u);
    return results(*run);
  };
  expect_equal(fuse_without_a_view("beside", true), fuse_without_a_view("after", false));
}

TEST_F(SceneSteps, CountAViewAsFusedOnlyWhenItIs) {
  std::unique_ptr<SceneRun> run;
  std::optional<SceneGraph> graph;
  std::atomic<int> begun = 0;
  int first_checked_after = 0, fused = -1;
  // The first view is checked when it and its sources are estimated, but its neighbours need more views.
  const auto checked = [&] {
    return fs::exists(
        run->workspace.path(Workspace::record_file(Step::kCheck, run->plan.view(0).output_name)));
  };
  const auto look = [&] {
    if (++begun != first_checked_after + 1) return;
    EXPECT_TRUE(wait_until(checked));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    fused = fused_views(*graph);
  };
  Backends backends;
  add_gpu(backends, look);
  run = begin("beside");
  const std::set<int> first(run->plan.view(0).sources.begin(), run->plan.view(0).sources.end());
  first_checked_after = 1 + static_cast<int>(first.size());
  const std::vector<int> neighbours = run->plan.overlaps().front();
  EXPECT_TRUE(std::any_of(neighbours.begin(), neighbours.end(), [&](int neighbour) {
    const std::vector<int>& sources = run->plan.view(neighbour).sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](int source) { return source != 0 && !first.contains(source); });
  }));
  prepare(*run, backends);
  run->memory.threads_a_stream = 1;  // one view after the other
  graph.emplace(*run, backends);
  estimate_views(*graph);
  EXPECT_EQ(fused, 0);
  check_views(*graph);
  fuse_views(*graph);
  EXPECT_EQ(fused_views(*graph), kViews);
}

TEST_F(SceneSteps, FuseAfterwardsWhenThereIsTooLittleMemoryBeside) {
  using File = FailingFile<OutOfMemory>;
  Backends backends;
  add_gpu(backends, [] { EXPECT_TRUE(wait_until(File::failed)); });  // before there is another file
  const auto run = begin("beside");
  prepare(*run, backends);
  const File file;
  do_all(*run, backends);
  expect_equal(results(*run), expected_results());
}

TEST_F(SceneSteps, EndTheEstimationWhenTheFusionBesideItCannotWrite) {
  std::optional<SceneGraph> graph;
  Backends backends;
  const WatchedBackend& gpu =
      add_gpu(backends, [&] { EXPECT_TRUE(wait_until([&] { return graph->scheduler.has_failed(); })); });
  const auto run = begin("beside");
  prepare(*run, backends);
  const FailingFile<OutputError> file;  // that of the cloud
  graph.emplace(*run, backends);
  EXPECT_THROW(estimate_views(*graph), OutputError);
  EXPECT_LT(gpu.sweeps(), kViews);
}

TEST_F(SceneSteps, EndTheEstimationWhenACheckBesideItFails) {
  std::optional<SceneGraph> graph;
  std::atomic<int> begun = 0;
  // A check fails before the last five views are swept; three other threads have the next ones already.
  const auto wait_for_failure = [&] {
    if (++begun >= kViews - 4) wait_until([&] { return graph->scheduler.has_failed(); });
  };
  Backends backends;
  const WatchedBackend& gpu = add_gpu(backends, wait_for_failure);
  options_.selection.max_sources = 1;  // checks can begin early
  const auto run = begin("full");
  // Nothing can be written where a file is in the place of the folder.
  const fs::path previews = fs::path(run->workspace.path(Workspace::preview_file("a"))).parent_path();
  fs::create_directories(previews.parent_path());
  std::ofstream(previews) << "not a folder";
  prepare(*run, backends);
  graph.emplace(*run, backends);
  EXPECT_THROW(estimate_views(*graph), OutputError);
  EXPECT_LT(gpu.sweeps(), kViews);
}

/// Throws at the fault point of a number, counted from 0; a full disk at files, else Ctrl-C.
class NumberedFault {
 public:
  explicit NumberedFault(int number) {
    left_ = number;
    set_fault_handler([](FaultPoint point) {
      if (left_-- != 0) return;
      if (point == FaultPoint::kWork) throw Interrupted();
      throw OutputError("injected");
    });
  }
  ~NumberedFault() { set_fault_handler(nullptr); }
  NumberedFault(const NumberedFault&) = delete;
  NumberedFault& operator=(const NumberedFault&) = delete;

  static int left() { return left_; }

 private:
  inline static std::atomic<int> left_ = 0;
};

TEST_F(SceneSteps, AFaultBesideLeavesWhatTheNextRunFinishes) {
  constexpr int kFaults = 12;
  options_.clean = true;
  const auto run_into = [&](const std::string& output, int fault) {
    Backends backends;
    add_gpu(backends, [] {});
    const auto run = begin(output);
    prepare(*run, backends);
    const NumberedFault injected(fault);
    try {
      do_all(*run, backends);
    } catch (const Error&) {
      EXPECT_LT(injected.left(), 0);
    }
    return std::pair(results(*run), injected.left());
  };
  constexpr int kNever = 1 << 30;
  const auto [expected, left] = run_into("expected", kNever);
  const int points = kNever - left;
  for (int i = 0; i < kFaults; ++i) {
    const std::string output = "fault" + std::to_string(i);
    run_into(output, i * points / kFaults + i % 5);
    expect_equal(run_into(output, kNever).first, expected);
  }
}

TEST_F(SceneSteps, RemoveMapsBesideTheEstimationOfOthersOnAGpu) {
  std::unique_ptr<SceneRun> run;
  std::atomic<int> begun = 0;
  const auto removed = [&run] {
    int views = 0;
    for (int view = 0; view < kViews; ++view) {
      const auto record = read_record(
          run->workspace.path(Workspace::record_file(Step::kEstimate, run->plan.view(view).output_name)));
      if (record && record->cleaned) ++views;
    }
    return views;
  };
  // The last view is swept when maps of another one are removed.
  const auto wait_for_removal = [&] {
    if (++begun < kViews) return;
    EXPECT_TRUE(wait_until([&] { return removed() > 0; }));
  };
  Backends backends;
  add_gpu(backends, wait_for_removal);
  options_.selection.max_sources = 1;
  std::map<std::string, std::string> expected = expected_results();
  EXPECT_EQ(
      std::erase_if(expected,
                    [](const auto& file) { return file.first.find(".photometric.") != std::string::npos; }),
      2u * kViews);
  options_.clean = true;
  run = begin("cleaned");
  prepare(*run, backends);
  do_all(*run, backends);
  EXPECT_EQ(removed(), kViews);
  expect_equal(results(*run), expected);
}

}  // namespace
}  // namespace recon
