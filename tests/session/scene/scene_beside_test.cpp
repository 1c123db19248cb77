// Steps of a scene beside the estimation, as on a GPU.

#include "core/interrupt.hpp"
#include "session/scene/scene_steps.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture and its backends

/// Runs all tasks in the thread that waits, spare ones first and else the newest: work on a view goes on as
/// far as it can before another view is estimated.
class OneThread : public Executor {
 public:
  void start(RunsOn runs_on, std::function<void()> job) override {
    jobs_[runs_on == RunsOn::kSpare ? 1 : 0].push_back(std::move(job));
  }

  bool help(bool) override {
    std::vector<std::function<void()>>& jobs = jobs_[jobs_[1].empty() ? 0 : 1];
    if (jobs.empty()) return false;
    run(jobs, jobs.size() - 1);
    return true;
  }

  /// Runs the oldest task that is no spare one.
  void run_oldest() { run(jobs_[0], 0); }

 private:
  static void run(std::vector<std::function<void()>>& jobs, std::size_t index) {
    const std::function<void()> job = std::move(jobs.at(index));
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(index));
    job();
  }

  std::array<std::vector<std::function<void()>>, 2> jobs_;  ///< spare ones last
};

/// The tasks of a prepared run in one thread, one view on a device at a time.
OneThread& begin_graph(std::optional<SceneGraph>& graph, SceneJob& job, const Backends& backends) {
  job.memory.threads_a_stream = 1;
  auto thread = std::make_unique<OneThread>();
  OneThread& result = *thread;
  graph.emplace(job, backends, std::move(thread));
  return result;
}

void finish_graph(SceneGraph& graph) {
  estimate_views(graph);
  check_views(graph);
  fuse_views(graph);
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
  return graph.progress(Step::kFusion).done();
}

/// A device of one stream that needs memory of its own.
WatchedBackend& add_gpu(Backends& backends, WatchedBackend::Hook before) {
  return add_backend(
      backends, "gpu", std::move(before), [] {}, 1, std::size_t{1} << 20);
}

/// The newest tasks run first: files of the first view get their names last.
void expect_fused_before_written(SceneGraph& graph, OneThread& thread) {
  estimate_views(graph);
  add_checks(graph);
  graph.scheduler.begin();
  thread.run_oldest();  // the cloud is begun
  static std::atomic<bool> fused;
  static const SceneGraph* watched;
  watched = &graph;
  fused = false;
  set_fault_handler([](FaultPoint point) {
    if (point == FaultPoint::kFileCommit && watched->job.products.result(Step::kCheck, 0) == nullptr)
      fused = fused || fused_views(*watched) > 0;
  });
  check_views(graph);
  set_fault_handler(nullptr);
  EXPECT_TRUE(fused);
  fuse_views(graph);
}

TEST_F(SceneSteps, FuseCheckedMapsBeforeTheyAreWritten) {
  for (const int held : {kViews, 2}) {  // with two, maps are read several times
    std::optional<SceneGraph> graph;
    Backends backends;
    add_gpu(backends, [] {});
    const auto job = begin("beside" + std::to_string(held));
    prepare(*job, backends);
    EXPECT_TRUE(job->memory.keeps_maps);
    job->memory.checks_beside = 0;  // but the fusion is beside them
    job->memory.fusion_views = held;
    OneThread& thread = begin_graph(graph, *job, backends);
    expect_fused_before_written(*graph, thread);
    expect_equal(results(*job), expected_results());
  }
}

TEST_F(SceneSteps, CheckAndFuseViewsBesideTheEstimationOfOthersOnAGpu) {
  std::unique_ptr<SceneJob> job;
  std::optional<SceneGraph> graph;
  int begun = 0, checked = 0, fused = 0;
  const auto look = [&] {  // when the last view is swept
    if (++begun < kViews) return;
    checked = job->products.results.count(Step::kCheck).done;
    fused = fused_views(*graph);
  };
  Backends backends;
  add_gpu(backends, look);
  options_.selection.max_sources = 1;
  job = begin("beside");
  prepare(*job, backends);
  begin_graph(graph, *job, backends);
  finish_graph(*graph);
  EXPECT_GT(checked, kViews / 2);
  EXPECT_GT(fused, 0);
  expect_equal(results(*job), expected_results());
}

/// The same on threads, which may come to it in any order.
TEST_F(SceneSteps, BesideEachOtherGiveTheSame) {
  Backends backends;
  add_gpu(backends, [] {});
  const auto job = begin("beside");
  prepare(*job, backends);
  EXPECT_GT(job->memory.checks_beside, 0);
  EXPECT_TRUE(job->memory.fusion_beside);
  do_all(*job, backends);
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, FuseAgainWithoutAViewThatFailsMeanwhile) {
  const auto fuse_without_a_view = [&](const char* output, bool beside) {
    Backends backends;
    WatchedBackend& gpu = add_gpu(backends, [] {});
    auto job = begin(output);
    const Pose failing = job->plan.scene_view(kViews / 2).cam_from_world;
    gpu.refuse([failing](const SweepProblem& problem) {
      return problem.reference.cam_from_world.translation.x == failing.translation.x;
    });
    prepare(*job, backends);
    job->memory.fusion_beside = beside;
    do_all(*job, backends);
    EXPECT_EQ(job->findings.failed.size(), 1u);
    return results(*job);
  };
  expect_equal(fuse_without_a_view("beside", true), fuse_without_a_view("after", false));
}

TEST_F(SceneSteps, CountAViewAsFusedOnlyWhenItIs) {
  std::unique_ptr<SceneJob> job;
  std::optional<SceneGraph> graph;
  int begun = 0, first_checked_after = 0, fused = -1;
  bool checked = false;
  // The first view is checked when it and its sources are estimated, but its neighbours need more views.
  const auto look = [&] {
    if (++begun != first_checked_after + 1) return;
    checked = job->products.result(Step::kCheck, 0) != nullptr;
    fused = fused_views(*graph);
  };
  Backends backends;
  add_gpu(backends, look);
  job = begin("beside");
  const std::set<int> first(job->plan.view(0).sources.begin(), job->plan.view(0).sources.end());
  first_checked_after = 1 + static_cast<int>(first.size());
  const std::vector<int> neighbours = job->plan.overlaps().front();
  EXPECT_TRUE(std::any_of(neighbours.begin(), neighbours.end(), [&](int neighbour) {
    const std::vector<int>& sources = job->plan.view(neighbour).sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](int source) { return source != 0 && !first.contains(source); });
  }));
  prepare(*job, backends);
  begin_graph(graph, *job, backends);
  finish_graph(*graph);
  EXPECT_TRUE(checked);
  EXPECT_EQ(fused, 0);
  EXPECT_EQ(fused_views(*graph), kViews);
}

TEST_F(SceneSteps, FuseAfterwardsWhenThereIsTooLittleMemoryBeside) {
  using File = FailingFile<OutOfMemory>;
  std::optional<SceneGraph> graph;
  Backends backends;
  add_gpu(backends, [] { EXPECT_TRUE(File::failed()); });  // before there is another file
  const auto job = begin("beside");
  prepare(*job, backends);
  const File file;
  begin_graph(graph, *job, backends);
  finish_graph(*graph);
  expect_equal(results(*job), expected_results());
}

TEST_F(SceneSteps, EndTheEstimationWhenTheFusionBesideItCannotWrite) {
  using File = FailingFile<OutputError>;
  std::optional<SceneGraph> graph;
  Backends backends;
  const WatchedBackend& gpu = add_gpu(backends, [] { EXPECT_TRUE(File::failed()); });
  const auto job = begin("beside");
  prepare(*job, backends);
  const File file;  // that of the cloud
  begin_graph(graph, *job, backends);
  EXPECT_THROW(estimate_views(*graph), OutputError);
  EXPECT_LE(gpu.sweeps(), 1) << "only the one that had begun";
}

TEST_F(SceneSteps, EndTheEstimationWhenACheckBesideItFails) {
  std::optional<SceneGraph> graph;
  Backends backends;
  const WatchedBackend& gpu = add_gpu(backends, [] {});
  options_.selection.max_sources = 1;  // checks can begin early
  const auto job = begin("full");
  // Nothing can be written where a file is in the place of the folder.
  const fs::path previews =
      fs::path(job->products.workspace.path(Workspace::preview_file("a"))).parent_path();
  fs::create_directories(previews.parent_path());
  std::ofstream(previews) << "not a folder";
  prepare(*job, backends);
  begin_graph(graph, *job, backends);
  EXPECT_THROW(estimate_views(*graph), OutputError);
  EXPECT_LT(gpu.sweeps(), kViews / 2);
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
    const auto job = begin(output);
    prepare(*job, backends);
    const NumberedFault injected(fault);
    try {
      do_all(*job, backends);
    } catch (const Error&) {
      EXPECT_LT(injected.left(), 0);
    }
    return std::pair(results(*job), injected.left());
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
  std::unique_ptr<SceneJob> job;
  std::optional<SceneGraph> graph;
  int begun = 0, removed_before_the_last = 0;
  const auto removed = [&job] {
    int views = 0;
    for (int view = 0; view < kViews; ++view) {
      const StepRecord* const record = job->products.result(Step::kEstimate, view);
      if (record != nullptr && record->cleaned) ++views;
    }
    return views;
  };
  Backends backends;
  add_gpu(backends, [&] {
    if (++begun == kViews) removed_before_the_last = removed();
  });
  options_.selection.max_sources = 1;
  std::map<std::string, std::string> expected = expected_results();
  EXPECT_EQ(
      std::erase_if(expected,
                    [](const auto& file) { return file.first.find(".photometric.") != std::string::npos; }),
      2u * kViews);
  options_.clean = true;
  job = begin("cleaned");
  prepare(*job, backends);
  begin_graph(graph, *job, backends);
  finish_graph(*graph);
  EXPECT_GT(removed_before_the_last, 0);
  EXPECT_EQ(removed(), kViews);
  expect_equal(results(*job), expected);
}

}  // namespace
}  // namespace recon
