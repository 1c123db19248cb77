#pragma once

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
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"
#include "methods/admission.hpp"
#include "render/description_file.hpp"
#include "render/render.hpp"
#include "session/scene/dense_model.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"

namespace recon::test {

namespace fs = std::filesystem;

constexpr int kViews = 12, kThreads = 4;
constexpr std::size_t kAmpleMemory = std::size_t{8} << 30;

inline std::string content(const fs::path& path) {
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
  bool is_gpu() const override { return device_bytes_ > 0; }
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
  WorkMemory pair_memory(int, int, const PairSpec&) const override { return {}; }
  DisparityMap match(const PairProblem& problem) override {
    const auto permit = admission_.admit();
    before_();
    DisparityMap map = cpu(permit).match(problem);
    after_();
    return map;
  }

  Image<Vec3f> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id) override {
    if (fails_to_check_) throw DeviceError("the device is lost");
    return Backend::normals(depth, camera, id);
  }

  Image<Vec3f> checked_normals(ImageView<const float> depth, const Pinhole& camera) override {
    ++checked_normals_;
    if (fails_to_check_) throw DeviceError("the device is lost");
    return Backend::checked_normals(depth, camera);
  }

  Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                   const ConsistencyOptions& options) override {
    ++checks_;
    if (fails_to_check_) throw DeviceError("the device is lost");
    return Backend::count_agreement(reference, sources, options);
  }

  int sweeps() const { return sweeps_; }
  int checks() const { return checks_; }
  int checked_normal_maps() const { return checked_normals_; }
  /// All work on maps fails from now on.
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
  std::atomic<int> sweeps_ = 0, checks_ = 0, checked_normals_ = 0;
  bool fails_to_check_ = false;
  std::function<bool(const SweepProblem&)> refused_;  ///< views that fail
};

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
  /// @param name_of_scene  its description in tests/cli/data
  /// @param views          how many are rendered of it
  explicit SceneSteps(const std::string& name_of_scene = "small_scene.json", int views = kViews) {
    std::string name = (fs::temp_directory_path() / "scene_steps_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    const std::string file = RECON_SOURCE_DIR "/tests/cli/data/" + name_of_scene;
    const SceneDescription description = parse_description(content(file), file, views).scene;
    fs::create_directories(folder_ / "images");
    fs::create_directories(folder_ / "sparse");
    for (int i = 0; i < views; ++i)
      write_image(folder_ / "images" / description.views[static_cast<std::size_t>(i)].name,
                  render_view(description, i).image.view());
    write_colmap_model(folder_ / "sparse", sparse_scene(description), ColmapFormat::kText);
    options_.planes = 16;
    options_.selection.max_sources = 3;
    options_.quiet = true;
  }
  ~SceneSteps() override { fs::remove_all(folder_); }

  /// A run into the folder `output` whose model is read. Unless `searches_` is set, each view is swept once,
  /// and overlaps with its sources only, so that work on some views ends long before that on others.
  std::unique_ptr<SceneJob> begin(const std::string& output) const {
    SceneFolder input{folder_, folder_ / "images", folder_ / "sparse"};
    if (fs::exists(folder_ / "masks")) input.masks = folder_ / "masks";
    auto job = std::make_unique<SceneJob>(options_, input, Workspace(folder_ / output),
                                          HostLimits{kAmpleMemory, kThreads});
    job->read();
    const Workspace& workspace = job->products.workspace;
    workspace.owned().claim(files_to_write({job->plan, job->targets, job->settings, workspace}));
    if (searches_) return job;
    for (ViewPlan& view : job->plan.views) {
      view.range = view.expected;
      view.overlapping.clear();
    }
    return job;
  }

  static void prepare(SceneJob& job, const Backends& backends, std::size_t limit = kAmpleMemory) {
    job.host.memory = limit;
    job.memory = plan_memory(job.plan, job.settings, backends, job.host);
    job.products.photos.set_budget(job.memory.photo_cache);
    job.products.maps.set_budget(job.memory.map_cache);
    job.prepare(true);
    write_dense_model(job.plan, job.products.workspace);
  }

  /// All tasks of a prepared run.
  static void do_all(SceneJob& job, const Backends& backends) {
    SceneGraph graph(job, backends);
    estimate_views(graph);
    if (job.targets.does(Step::kPlanes)) find_planes(graph);
    if (job.targets.does(Step::kCheck)) check_views(graph);
    if (job.targets.does(Step::kFusion)) fuse_views(graph);
  }

  /// The files of a run that has ended: all but the records, which hold times and names of devices.
  static std::map<std::string, std::string> results(const SceneJob& job) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(job.products.workspace.root())) {
      const std::string name = fs::relative(entry.path(), job.products.workspace.root()).string();
      const bool is_kept = name.find(".changed") != std::string::npos;  // what a test has damaged
      if (entry.is_regular_file() && !name.starts_with("status/") && !is_kept)
        files[name] = content(entry.path());
    }
    return files;
  }

  /// The results of a run on one device with ample memory.
  std::map<std::string, std::string> expected_results() const {
    Backends backends;
    add_backend(backends, "only");
    const auto job = begin("expected");
    prepare(*job, backends);
    do_all(*job, backends);
    return results(*job);
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
  bool searches_ = false;
};

}  // namespace recon::test
