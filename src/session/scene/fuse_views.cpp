#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>

#include "core/arena.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/paths.hpp"
#include "fuse/consistency.hpp"
#include "fuse/device_fusion.hpp"
#include "fuse/fusion.hpp"
#include "io/file/mapped_file.hpp"
#include "io/image/image_file.hpp"
#include "session/diagnose/agreement.hpp"
#include "session/diagnose/given_depths.hpp"
#include "session/options/option_text.hpp"
#include "session/scene/cloud_offset.hpp"
#include "session/scene/cloud_writer.hpp"
#include "session/scene/dense_model.hpp"
#include "session/scene/exports.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

/// Hands fusion the maps of the checked views, in their order.
class MapLoader : public FusionMapLoader {
 public:
  MapLoader(SceneProducts& products, const MemoryPlan& memory, Findings& findings,
            const std::vector<int>& views)
      : products_(products), memory_(memory), findings_(findings), views_(views) {}

  std::shared_ptr<const FusionMaps> load(int index) override {
    check_interrupted();
    const int view = views_[index];
    const ViewPlan& plan = products_.plan.view(view);
    // Maps that are not yet on the disk may be asked for again.
    const auto maps = memory_.keeps_maps
                          ? products_.maps.get(MapKind::kGeometric, plan.output_name, plan.camera)
                          : products_.maps.take(MapKind::kGeometric, plan.output_name, plan.camera);
    const auto colour = products_.photos.colour(products_.plan, view);
    if (memory_.fusion_files > 0) return in_files(*maps, *colour);
    return std::make_shared<const FusionMaps>(FusionMaps{maps->depth.view(),
                                                         maps->normal.view(),
                                                         maps->confidence.view(),
                                                         colour->view(),
                                                         {maps, colour},
                                                         {}});
  }

  void release(int index) override {
    products_.photos.release(products_.plan, views_[index]);
    products_.maps.release(MapKind::kGeometric, products_.plan.view(views_[index]).output_name);
  }

  void device_failed(const Error& error) override {
    findings_.warn(std::string("a GPU fails, the fusion continues without it: ") + error.what());
  }

 private:
  /// The maps copied to files, of which only the pages in use take memory.
  std::shared_ptr<const FusionMaps> in_files(const ViewDepth& maps, const PhotoStore::Colour& colour) const {
    const std::filesystem::path& folder = products_.workspace.root();
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

  SceneProducts& products_;
  const MemoryPlan& memory_;
  Findings& findings_;
  const std::vector<int>& views_;
};

namespace {

/// Removes what belongs to the cloud of an earlier run.
/// Another one takes the place of the cloud itself.
void remove_of_cloud(SceneProducts& products, const Targets& targets) {
  const Workspace& workspace = products.workspace;
  products.results.begin({Step::kFusion});
  workspace.owned().remove(Workspace::record_file(Step::kFusion));
  for (const CloudFile& file : cloud_files())
    if (file.write != nullptr) workspace.owned().remove(file.name);
  for (const Step step : {Step::kTiles, Step::kExport}) remove_extra(products, step, targets.does(step));
}

/// Advice about options that were given and can leave a cloud empty; without any, nothing.
std::string strict_options(const GivenOptions& given) {
  std::string text;
  for (const char* name : {"depth-min", "depth-max", "min-confidence", "min-views", "max-depth-error",
                           "max-normal-angle", "min-fused-views"})
    if (const auto it = given.find(name); it != given.end())
      text +=
          fmt::format("{}--{} {}", text.empty() ? "; try first without " : " and ", name, it->second.text);
  return text;
}

/// @throws InputError that the cloud has no points, or only some by chance, and why
[[noreturn]] void fail_empty(SceneJob& job, const std::vector<int>& views, std::uint64_t points) {
  const bool given = job.input.given.any();
  const std::string folder = job.products.workspace.root().string();
  const ViewAgreement agreement = agreement_of(job.products, views);
  const double photometric = 100 * agreement.estimated, geometric = 100 * agreement.checked;
  if (given && views.empty() && !job.findings.failed.empty())
    throw InputError(no_usable_maps(folder, job.findings));
  std::string reason = "points are seen by too few views at once: lower --min-fused-views or raise --sources";
  if (photometric < 1 && given)
    reason =
        "the given depth maps have next to no depth: check them, --depth-unit, the depth range (--depth-min, "
        "--depth-max) and the masks";
  else if (photometric < 1)
    reason =
        "matching finds next to nothing: check the depth range (--depth-min, --depth-max) and that the "
        "photos have texture";
  else if (by_chance(job.findings, agreement))
    reason = "the views do not agree on the depth: " + disagreement(job.input, job.findings);
  throw InputError(fmt::format(
      "{}: the cloud {}: of the pixels of {} views, {:.2f} % have a depth before the check "
      "across views and {:.2f} % after it; {}{}{}",
      folder, points == 0 ? "is empty" : fmt::format("would be {} points by chance", points), views.size(),
      photometric, geometric, reason, strict_options(job.options.given),
      is_there(job.products.workspace.path(Workspace::cloud_file())) ? "; the cloud of an earlier run stays"
                                                                     : ""));
}

std::vector<std::uint32_t> image_indices(const ScenePlan& plan, const std::vector<int>& views) {
  const std::vector<int> dense_index = dense_indices(plan);
  std::vector<std::uint32_t> indices;
  for (const int view : views) indices.push_back(static_cast<std::uint32_t>(dense_index[view]));
  return indices;
}

}  // namespace

/// The points of some views, of which no file is finished. One view is fused after the other: its loops come
/// before those of checks, of which several run at once.
struct UnfinishedCloud {
  UnfinishedCloud(SceneJob& job, const Backends& backends, std::vector<int> fused_views)
      : views(std::move(fused_views)),
        geometry(fusion_views(job.plan, views)),
        loader(job.products, job.memory, job.findings, views),
        writer(job.products.workspace.path(Workspace::cloud_file()),
               cloud_coordinates(job.plan, job.settings.cloud, views), image_indices(job.plan, views),
               job.settings.cloud.roi),
        arena(job.host.threads) {
    FusionOptions options = job.settings.fusion(views.size());
    options.max_cached_views = static_cast<std::size_t>(job.memory.fusion_views);
    options.reads_ahead = job.memory.fusion_reads_ahead;
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
  Arena arena;
  std::unique_ptr<DeviceFusion> device;
  std::optional<FusionByViews> fusion;
  std::uint64_t points = 0;  ///< in the region of interest or not
};

std::vector<FusionView> fusion_views(const ScenePlan& plan, const std::vector<int>& views) {
  std::vector<int> index_of_view(plan.views.size(), -1);
  for (std::size_t i = 0; i < views.size(); ++i) index_of_view[views[i]] = static_cast<int>(i);
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  std::vector<FusionView> result;
  for (const int view : views) {
    FusionView it{plan.view(view).camera, plan.scene_view(view).cam_from_world, {}};
    for (const int other : overlaps[view])
      if (const int index = index_of_view[other]; index >= 0) it.neighbours.push_back(index);
    result.push_back(std::move(it));
  }
  return result;
}

namespace {

void drop_cloud(SceneGraph& graph) {
  graph.cloud.reset();
  graph.progress(Step::kFusion).reset();
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
  return graph.add(Step::kFusion, {.run = run, .needs = std::move(needs)});
}

/// Adds the tasks of the cloud of `views`.
void add_fusion(SceneGraph& graph, const std::vector<int>& views, bool beside) {
  const std::vector<FusionView> geometry = fusion_views(graph.job.plan, views);
  // Maps that stay in memory do not have to be on the disk.
  const auto add_maps = [&](std::size_t index, std::vector<TaskId>& needs) {
    const SceneGraph::ViewTasks& tasks = graph.views[views[index]];
    needs.push_back(graph.job.memory.keeps_maps ? tasks.check : tasks.commit);
  };
  TaskId last = add_fusion_task(graph, {}, beside, [&graph, views] {
    graph.cloud = std::make_shared<UnfinishedCloud>(graph.job, graph.backends, views);
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
      graph.progress(Step::kFusion).advance();
    });
  }
}

/// Gives the files of the cloud their names.
void commit_cloud(SceneJob& job, UnfinishedCloud& cloud, StepRecord record) {
  const CloudSettings& settings = job.settings.cloud;
  const Workspace& workspace = job.products.workspace;
  if (cloud.points == 0 ||
      is_cloud_by_chance(job.products, job.findings, cloud.views, cloud.points, settings.spacing))
    fail_empty(job, cloud.views, cloud.points);
  const std::uint64_t points = cloud.writer.count();
  if (points == 0)
    throw InputError(fmt::format(
        "{}: the cloud is empty: none of {} points lies in --roi {}; they lie in {}{}",
        workspace.root().string(), cloud.points, format_box(settings.roi),
        rounded_box(*cloud.writer.bounds()),
        is_there(workspace.path(Workspace::cloud_file())) ? "; the cloud of an earlier run stays" : ""));
  remove_of_cloud(job.products, job.targets);
  const CloudFiles files = cloud.writer.commit();
  record.outputs = {{Workspace::cloud_file(), files.cloud}, {Workspace::visibility_file(), files.visibility}};
  log_offset(job.plan, settings);
  for (const CloudFile& file : cloud_files())
    if (file.write != nullptr && file.is_wanted(job.plan, settings))
      record.outputs.push_back({file.name, file.write(workspace, job.plan, settings)});
  record.result = {{"points", points}};
  job.products.results.put({Step::kFusion}, std::move(record));
}

}  // namespace

void add_fusion_beside(SceneGraph& graph) {
  const SceneJob& job = graph.job;
  if (!job.memory.fusion_beside || !job.targets.does(Step::kFusion)) return;
  if (!job.products.results.overwrites() &&
      is_there(job.products.workspace.path(Workspace::record_file(Step::kFusion))))
    return;
  const std::vector<int> views = job.plan.views_in_scope();
  if (std::ranges::all_of(views, [&](int view) { return graph.views[view].check >= 0; }))
    add_fusion(graph, views, true);
}

void fuse_views(SceneGraph& graph) {
  SceneJob& job = graph.job;
  const std::vector<int> views = job.products.views_with(Step::kCheck);
  StepRecord record;
  record.inputs = job.inputs.fusion(views);
  if (job.products.results.find({Step::kFusion}, record.inputs) != nullptr) {
    messages().info("fusion: the cloud is finished and kept");
    return;
  }
  if (const std::string reason = job.products.results.reason({Step::kFusion}); !reason.empty())
    messages().info("fusion: the stale cloud is made again: {}", reason);
  if (const std::string fewer = fewer_views(job.products.workspace, views.size()); !fewer.empty())
    messages().info("fusion: {}", fewer);
  warn_of_min_fused_views(views.size(), job.settings, job.findings);
  if (job.memory.fusion_files > 0)
    messages().info("fusion: the maps of {} views are in temporary files of up to {}, as memory is limited",
                    job.memory.fusion_views, format_byte_size(job.memory.fusion_files));
  const int count = static_cast<int>(views.size());
  graph.progress(Step::kFusion).show(job, Step::kFusion, count, count);
  graph.wait(Step::kFusion, false);
  if (!graph.cloud || graph.cloud->views != views ||
      graph.progress(Step::kFusion).done() != std::ssize(views)) {
    drop_cloud(graph);
    add_fusion(graph, views, false);
    graph.wait(Step::kFusion, false);
  }
  commit_cloud(job, *graph.cloud, std::move(record));
}

}  // namespace recon
