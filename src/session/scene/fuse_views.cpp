#include <fmt/format.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "fuse/consistency.hpp"
#include "fuse/device_fusion.hpp"
#include "fuse/fusion.hpp"
#include "io/cloud/ply.hpp"
#include "io/file/mapped_file.hpp"
#include "io/image/image_file.hpp"
#include "session/graph/task_threads.hpp"
#include "session/scene/calibration.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_run.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// Hands fusion the maps of the checked views, in their order.
class MapLoader : public FusionMapLoader {
 public:
  MapLoader(SceneRun& run, const std::vector<int>& views) : run_(run), views_(views) {}

  std::shared_ptr<const FusionMaps> load(int index) override {
    check_interrupted();
    const int view = views_[index];
    const ViewPlan& plan = run_.plan.view(view);
    // Maps that are not yet on the disk may be asked for again.
    const auto maps = run_.memory.keeps_maps
                          ? run_.maps.get(MapKind::kGeometric, plan.output_name, plan.camera)
                          : run_.maps.take(MapKind::kGeometric, plan.output_name, plan.camera);
    const auto colour = run_.photos.colour(run_.plan, view);
    if (run_.memory.fusion_files > 0) return in_files(*maps, *colour);
    return std::make_shared<const FusionMaps>(FusionMaps{maps->depth.view(),
                                                         maps->normal.view(),
                                                         maps->confidence.view(),
                                                         colour->view(),
                                                         {maps, colour},
                                                         {}});
  }

  void release(int index) override {
    run_.photos.release(run_.plan, views_[index]);
    run_.maps.release(MapKind::kGeometric, run_.plan.view(views_[index]).output_name);
  }

  void device_failed(const Error& error) override {
    run_.warn(std::string("a GPU fails, the fusion continues without it: ") + error.what());
  }

 private:
  /// The maps copied to files, of which only the pages in use take memory.
  std::shared_ptr<const FusionMaps> in_files(const ViewDepth& maps, const PhotoStore::Colour& colour) const {
    const std::filesystem::path& folder = run_.workspace.root();
    const auto depth = std::make_shared<const MappedImage<float>>(folder, maps.depth.view());
    const auto normal = std::make_shared<const MappedImage<Vec3f>>(folder, maps.normal.view());
    const auto confidence = std::make_shared<const MappedImage<float>>(folder, maps.confidence.view());
    const auto pixels = std::make_shared<const MappedImage<Rgb8>>(folder, colour.view());
    const auto drop_pages = [=] {
      depth->drop_pages();
      normal->drop_pages();
      confidence->drop_pages();
      pixels->drop_pages();
    };
    return std::make_shared<const FusionMaps>(
        FusionMaps{depth->view(), normal->view(), confidence->view(), pixels->view(), {}, drop_pages});
  }

  SceneRun& run_;
  const std::vector<int>& views_;
};

/// Writes points in the region of interest, their views as COLMAP counts them in the model. Each file has
/// a writer thread of its own, and the hashes of both one: the system lets one thread at a time write to a
/// file.
class CloudWriter : public PointSink {
 public:
  CloudWriter(const std::filesystem::path& path, const PlyCoordinates& coordinates,
              std::vector<std::uint32_t> image_index, const std::optional<SceneBox>& roi)
      : ply_(path, coordinates),
        vertex_bytes_(PlyWriter::vertex_bytes(coordinates.type)),
        image_index_(std::move(image_index)),
        roi_(roi),
        vertices_(1, kWritesWaiting),
        visibility_(1, kWritesWaiting),
        hashes_(1, kWritesWaiting) {}

  void reserve(int count) override { encoded_.resize(count); }

  void keep(int slot, const FusedPoints& points) override {
    const std::shared_ptr<EncodedPoints> encoded = free_buffer();
    encoded->clear();
    encode(points, *encoded);
    encoded_[slot] = encoded;
  }

  void add(int slot) override {
    const std::shared_ptr<EncodedPoints> points = std::move(encoded_[slot]);
    vertices_.submit([this, points] { ply_.add_vertices(*points); });
    visibility_.submit([this, points] { ply_.add_visibility(*points); });
    hashes_.submit([this, points] { ply_.hash(*points); });
  }

  /// Waits until all points are written.
  std::uint64_t count() {
    vertices_.finish();
    visibility_.finish();
    hashes_.finish();
    return ply_.count();
  }
  CloudFiles commit() { return ply_.commit(); }

 private:
  void encode(const FusedPoints& points, EncodedPoints& result) const {
    result.cloud.reserve(points.points.size() * vertex_bytes_);
    result.visibility.reserve(points.points.size() * PlyWriter::visibility_bytes(0) +
                              points.views.size_bytes());
    std::vector<std::uint32_t> indices;
    points.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
      if (roi_ && !roi_->contains(point.position)) return;
      indices.clear();
      for (const std::uint32_t view : views) indices.push_back(image_index_[view]);
      if (!std::ranges::is_sorted(indices)) std::ranges::sort(indices);
      ply_.encode({point.position, point.normal, point.colour, point.confidence, indices}, result);
    });
  }

  /// A buffer that is used again when both files have it, as new memory costs as much as the points.
  std::shared_ptr<EncodedPoints> free_buffer() {
    auto buffer = std::make_unique<EncodedPoints>();
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
      }
    }
    return {buffer.release(), [this](EncodedPoints* written) { keep_buffer(written); }};
  }

  void keep_buffer(EncodedPoints* written) noexcept {
    std::unique_ptr<EncodedPoints> buffer(written);
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {  // it is freed
    }
  }

  static constexpr int kWritesWaiting = 32;

  PlyWriter ply_;
  const std::size_t vertex_bytes_;
  const std::vector<std::uint32_t> image_index_;
  const std::optional<SceneBox> roi_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodedPoints>> free_;
  std::vector<std::shared_ptr<EncodedPoints>> encoded_;  ///< of the slots
  BackgroundWork vertices_, visibility_, hashes_;        // last, so that they end before what they work on
};

namespace {

/// Removes the cloud of an earlier run and what was made of it, which must not pass for that of this one.
void remove_cloud(const SceneRun& run) {
  for (const std::string& file : {Workspace::record_file(Step::kFusion), Workspace::cloud_file(),
                                  Workspace::visibility_file(), Workspace::offset_file()})
    run.workspace.owned().remove(file);
  remove_tiles(run);
  remove_exported_points(run);
}

/// @throws InputError that the cloud has no points, or only some by chance, and why
[[noreturn]] void fail_empty(const SceneRun& run, const std::vector<int>& views, std::uint64_t points) {
  const ViewAgreement agreement = agreement_of(run, views);
  const double photometric = 100 * agreement.estimated, geometric = 100 * agreement.checked;
  if (run.given.any() && views.empty() && !run.failed.empty()) throw InputError(no_usable_maps(run));
  std::string reason = "points are seen by too few views at once: lower --min-fused-views or raise --sources";
  if (photometric < 1 && run.given.any())
    reason =
        "the given depth maps have next to no depth: check them, --depth-unit, the depth range (--depth-min, "
        "--depth-max) and the masks";
  else if (photometric < 1)
    reason =
        "matching finds next to nothing: check the depth range (--depth-min, --depth-max) and that the "
        "photos have texture";
  else if (by_chance(run, agreement))
    reason = "the views do not agree on the depth: " + disagreement(run);
  throw InputError(
      fmt::format("{}: the cloud {}: of the pixels of {} views, {:.2f} % have a depth before the check "
                  "across views and {:.2f} % after it; {}",
                  run.workspace.root().string(),
                  points == 0 ? "is empty" : fmt::format("would be {} points by chance", points),
                  views.size(), photometric, geometric, reason));
}

FusionOptions fusion_options(const SceneRun& run, std::size_t views) {
  FusionOptions options;
  options.agreement = run.options.fusion_consistency(run.job);
  // A scene of few views cannot ask for more than it has.
  options.min_views = std::min(run.options.min_fused_views, static_cast<int>(views));
  options.spacing = run.options.point_spacing;
  options.max_cached_views = static_cast<std::size_t>(run.memory.fusion_views);
  options.reads_ahead = run.memory.fusion_reads_ahead;
  return options;
}

std::vector<std::uint32_t> image_indices(const SceneRun& run, const std::vector<int>& views) {
  const std::vector<int> dense_index = dense_indices(run.plan);
  std::vector<std::uint32_t> indices;
  for (const int view : views) indices.push_back(static_cast<std::uint32_t>(dense_index[view]));
  return indices;
}

std::vector<int> checked_views(const SceneRun& run) {
  std::vector<int> views;
  for (const int view : run.plan.views_in_scope())
    if (run.result(Step::kCheck, view)) views.push_back(view);
  return views;
}

}  // namespace

/// The points of some views, of which no file is finished. One view is fused after the other: its loops come
/// before those of checks, of which several run at once.
struct UnfinishedCloud {
  UnfinishedCloud(SceneRun& run, const Backends& backends, std::vector<int> fused_views)
      : views(std::move(fused_views)),
        geometry(fusion_views(run, views)),
        loader(run, views),
        writer(run.workspace.path(Workspace::cloud_file()), cloud_coordinates(run, views),
               image_indices(run, views), run.options.roi),
        arena(run.threads) {
    const FusionOptions options = fusion_options(run, views.size());
    // The first backend that can fuses; else, and where it fails, the CPU.
    for (const auto& backend : backends)
      if (!device) device = backend->fusion(geometry, options);
    fusion.emplace(geometry, loader, options, writer, device.get());
  }

  void fuse_next() {
    points += arena.execute([this] { return fusion->fuse_next(); });
  }

  const std::vector<int> views;
  const std::vector<FusionView> geometry;
  MapLoader loader;
  CloudWriter writer;
  oneapi::tbb::task_arena arena;
  std::unique_ptr<DeviceFusion> device;
  std::optional<FusionByViews> fusion;
  std::uint64_t points = 0;  ///< in the region of interest or not
};

std::vector<FusionView> fusion_views(const SceneRun& run, const std::vector<int>& views) {
  std::vector<int> index_of_view(run.plan.views.size(), -1);
  for (std::size_t i = 0; i < views.size(); ++i) index_of_view[views[i]] = static_cast<int>(i);
  const std::vector<std::vector<int>> overlaps = run.plan.overlaps();
  std::vector<FusionView> result;
  for (const int view : views) {
    FusionView it{run.plan.view(view).camera, run.plan.scene_view(view).cam_from_world, {}};
    for (const int other : overlaps[view])
      if (const int index = index_of_view[other]; index >= 0) it.neighbours.push_back(index);
    result.push_back(std::move(it));
  }
  return result;
}

namespace {

void drop_cloud(SceneGraph& graph) {
  graph.cloud.reset();
  graph.progress[SceneGraph::kFusion].reset();
}

/// Adds a task of the cloud. Beside other work it may fail where there is too little memory.
TaskId add_fusion_task(SceneGraph& graph, std::vector<TaskId> needs, bool beside,
                       const std::function<void()>& work) {
  const auto leave_it = [&graph](const char* reason) {
    messages().info("fusion: it begins after the check, not beside: {}", reason);
    drop_cloud(graph);
    return TaskEnd::kFailed;
  };
  const auto run = [work, beside, leave_it] {
    try {
      work();
      return TaskEnd::kDone;
    } catch (const OutOfMemory& error) {  // alone there may be enough
      if (!beside) throw;
      return leave_it(error.what());
    } catch (const std::bad_alloc&) {
      if (!beside) throw;
      return leave_it("there is not enough memory");
    }
  };
  return graph.scheduler.add({.step = SceneGraph::kFusion, .run = run, .needs = std::move(needs)});
}

/// Adds the tasks of the cloud of `views`, in the place of that of an earlier run.
void add_fusion(SceneGraph& graph, const std::vector<int>& views, bool beside) {
  const std::vector<FusionView> geometry = fusion_views(graph.run, views);
  // Maps that stay in memory do not have to be on the disk.
  const auto add_maps = [&](std::size_t index, std::vector<TaskId>& needs) {
    const SceneGraph::ViewTasks& tasks = graph.views[views[index]];
    needs.push_back(graph.run.memory.keeps_maps ? tasks.check : tasks.commit);
  };
  TaskId last = add_fusion_task(graph, {}, beside, [&graph, views] {
    remove_cloud(graph.run);
    graph.cloud = std::make_shared<UnfinishedCloud>(graph.run, graph.backends, views);
  });
  for (std::size_t i = 0; i < views.size(); ++i) {
    std::vector<TaskId> needs = {last};
    // Those of the next view are read meanwhile.
    for (std::size_t view = i; view < std::min(i + 2, views.size()); ++view) {
      add_maps(view, needs);
      for (const int neighbour : geometry[view].neighbours)
        add_maps(static_cast<std::size_t>(neighbour), needs);
    }
    last = add_fusion_task(graph, std::move(needs), beside, [&graph] {
      graph.cloud->fuse_next();
      graph.progress[SceneGraph::kFusion].advance();
    });
  }
}

/// Gives the files of the cloud their names.
void commit_cloud(SceneRun& run, UnfinishedCloud& cloud, StepRecord record) {
  if (cloud.points == 0 || is_cloud_by_chance(run, cloud.views, cloud.points))
    fail_empty(run, cloud.views, cloud.points);
  const std::uint64_t points = cloud.writer.count();
  if (points == 0)
    throw InputError(fmt::format(
        "{}: the cloud is empty: none of {} points lies in --roi {}; make the box larger, or look "
        "where the cloud is without it",
        run.workspace.root().string(), cloud.points, format_box(run.options.roi)));
  const CloudFiles files = cloud.writer.commit();
  record.outputs = {{Workspace::cloud_file(), files.cloud}, {Workspace::visibility_file(), files.visibility}};
  write_offset_file(run, record.outputs);
  record.result = {{"points", points}};
  run.results.put({Step::kFusion}, std::move(record));
}

}  // namespace

void add_fusion_beside(SceneGraph& graph) {
  const SceneRun& run = graph.run;
  if (!run.memory.fusion_beside || !run.does(Step::kFusion)) return;
  if (!run.options.overwrite && is_there(run.workspace.path(Workspace::record_file(Step::kFusion)))) return;
  const std::vector<int> views = run.plan.views_in_scope();
  if (std::ranges::all_of(views, [&](int view) { return graph.views[view].check >= 0; }))
    add_fusion(graph, views, true);
}

void fuse_views(SceneGraph& graph) {
  SceneRun& run = graph.run;
  const std::vector<int> views = checked_views(run);
  StepRecord record;
  record.inputs = fusion_inputs(run, views);
  if (run.results.find({Step::kFusion}, record.inputs) != nullptr) {
    messages().info("fusion: the cloud is finished and kept");
    return;
  }
  if (const std::string reason = run.results.reason({Step::kFusion}); !reason.empty())
    messages().info("fusion: the stale cloud is made again: {}", reason);
  // Without any, the run ends with the reason.
  if (!views.empty() && static_cast<int>(views.size()) < run.options.min_fused_views)
    run.warn(
        fmt::format("points need {} instead of {} views, as there are no more; lower --min-fused-views, or "
                    "add photos that overlap",
                    views.size(), run.options.min_fused_views));
  if (run.memory.fusion_files > 0)
    messages().info("fusion: the maps of {} views are in temporary files of up to {}, as memory is limited",
                    run.memory.fusion_views, format_byte_size(run.memory.fusion_files));
  const int count = static_cast<int>(views.size());
  graph.progress[SceneGraph::kFusion].show(run, Step::kFusion, count, count);
  graph.scheduler.wait(SceneGraph::kFusion, false);
  if (!graph.cloud || graph.cloud->views != views ||
      graph.progress[SceneGraph::kFusion].done() != std::ssize(views)) {
    drop_cloud(graph);
    add_fusion(graph, views, false);
    graph.scheduler.wait(SceneGraph::kFusion, false);
  }
  commit_cloud(run, *graph.cloud, std::move(record));
}

}  // namespace recon
