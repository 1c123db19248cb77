#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/diagnose/agreement.hpp"
#include "session/products/filled_maps.hpp"
#include "session/products/masks.hpp"
#include "session/scene/depth_histogram.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"
#include "session/scene/view_check.hpp"

namespace recon {

namespace {

std::vector<int> estimated_sources(const SceneProducts& products, int view) {
  std::vector<int> sources;
  for (const int source : products.plan.view(view).sources)
    if (products.result(Step::kEstimate, source)) sources.push_back(source);
  return sources;
}

/// The check of the depths of views against their sources; writes what is left and its previews.
class Checks {
 public:
  explicit Checks(SceneGraph& graph) : graph_(graph), results_(graph.views.size()) {}

  /// Checks a view, unless it is checked already. Its maps are then in memory if the budget allows, its files
  /// complete but for `commit`.
  TaskEnd check(int view) {
    const std::string& name = plan_.view(view).output_name;
    const std::vector<int> sources = estimated_sources(products_, view);
    StepRecord record;
    record.inputs = graph_.job.inputs.check(view, sources);
    if (products_.results.find(products_.key(Step::kCheck, view), record.inputs) != nullptr)
      return TaskEnd::kDone;
    stale_.add(view);
    const auto result = std::make_shared<const ViewDepth>(checked_maps(view, sources));
    products_.maps.insert(MapKind::kGeometric, name, result);
    std::vector<WrittenFile> files = write_results(name, *result, record.result);
    results_[view] = Result{std::move(files), std::move(record)};
    return TaskEnd::kDone;
  }

  /// Gives the files of a checked view their names, and sets its state.
  TaskEnd commit(int view) {
    std::optional<Result> result = std::exchange(results_[view], std::nullopt);
    if (result) {
      const ResultKey key = products_.key(Step::kCheck, view);
      products_.results.begin(key);
      for (WrittenFile& file : result->files) result->record.outputs.push_back(file.commit());
      products_.results.put(key, std::move(result->record));
    }
    graph_.progress(Step::kCheck).advance(/*kept=*/!result);
    return TaskEnd::kDone;
  }

  /// Frees the maps of a view before the check, and with --clean removes their files.
  TaskEnd release(int view) {
    filled_.release(view);
    if (settings_.clean && plan_.view(view).in_scope && products_.result(Step::kEstimate, view) != nullptr)
      products_.results.clean(products_.key(Step::kEstimate, view));
    return TaskEnd::kDone;
  }

 private:
  /// Of a view between `check` and `commit`.
  struct Result {
    std::vector<WrittenFile> files;
    StepRecord record;
  };

  /// Writes the maps of a view and their previews, and sums them up, all at once.
  std::vector<WrittenFile> write_results(const std::string& name, const ViewDepth& maps,
                                         nlohmann::json& result) const {
    constexpr MapKind kKind = MapKind::kGeometric;
    const MapStore& store = products_.maps;
    const auto preview = [this](const std::string& file, const auto& image) {
      return WrittenFile{file, image_file(products_.workspace.path(file), image.view())};
    };
    std::array<std::optional<WrittenFile>, 5> files;
    const std::array<std::function<void()>, 6> longest_first = {
        [&] { files[3].emplace(preview(Workspace::preview_file(name), depth_preview(maps.depth.view()))); },
        [&] {
          result = {{"known", known_share(maps.depth)},
                    {"depths", histogram_json(depth_histogram(maps.depth.view()))}};
        },
        [&] { files[1].emplace(store.write_normal(kKind, name, maps)); },
        [&] { files[0].emplace(store.write_depth(kKind, name, maps)); },
        [&] { files[2].emplace(store.write_confidence(kKind, name, maps)); },
        [&] {
          files[4].emplace(
              preview(Workspace::confidence_preview_file(name), confidence_preview(maps.confidence.view())));
        }};
    parallel_for(static_cast<int>(longest_first.size()), [&](int i) { longest_first[i](); });
    std::vector<WrittenFile> written;
    for (auto& file : files) written.push_back(std::move(*file));
    return written;
  }

  /// The maps of a view that its sources confirm.
  ViewDepth checked_maps(int view, const std::vector<int>& sources) {
    const Image<std::uint8_t> mask = prepared_mask(products_, view);
    using enum FilledMaps::By;
    ViewCheck check{depth_source(view, kPrior), {}, mask.view(), {}, {}};
    for (const int source : sources) check.sources.push_back(depth_source(source, kPlanes));
    CheckDevices& devices = graph_.check_devices;
    const auto said_by = [&](const std::vector<DepthSource>& all) {
      return devices.count_agreement(view, check.reference, all, settings_.consistency);
    };
    const auto maps = filled_.get(view, kPrior);
    check.count_agreement = [&] {
      Image<Agreement> said = said_by(check.sources);
      if (filled_.filled_by(view) == kPrior) {
        std::vector<DepthSource> with_priors;
        for (const int source : sources) with_priors.push_back(depth_source(source, kPrior));
        take_said_of_priors(maps->confidence.view(), said_by(with_priors), said);
      }
      return said;
    };
    check.normals = [&](ImageView<const float> depth) {
      return devices.checked_normals(view, depth, check.reference.camera);
    };
    return check_view(check, *maps, settings_);
  }

  /// @param by  what may fill its maps
  DepthSource depth_source(int view, FilledMaps::By by) const {
    const auto load = [this, view, by] {
      auto maps = filled_.get(view, by);
      const ViewDepth& loaded = *maps;
      return DepthSource::Maps{loaded.depth.view(), loaded.normal.view(), std::move(maps)};
    };
    return {plan_.view(view).camera, plan_.scene_view(view).cam_from_world,
            graph_.filled_map_id(view, std::min(by, filled_.filled_by(view))), load,
            products_.maps.normal_noise(plan_.view(view).output_name, plan_.view(view).camera)};
  }

  SceneGraph& graph_;
  SceneProducts& products_ = graph_.job.products;
  const ScenePlan& plan_ = graph_.job.plan;
  const CheckSettings& settings_ = graph_.job.settings.check;
  const FilledMaps filled_{products_, settings_.bounds};
  StaleNotice stale_{products_, Step::kCheck};
  std::vector<std::optional<Result>> results_;  ///< by view
};

void add_check(SceneGraph& graph, const std::shared_ptr<Checks>& checks, int view) {
  SceneGraph::ViewTasks& tasks = graph.views[view];
  Task check{.runs_on = RunsOn::kSpare,
             .run = [checks, view] { return checks->check(view); },
             .shares = {{SceneGraph::kChecks}, {SceneGraph::kCheckedFiles, 1, true}}};
  if (tasks.write >= 0) check.needs = {tasks.write};
  for (const int source : graph.job.plan.view(view).sources)
    if (const TaskId write = graph.views[source].write; write >= 0) check.after.push_back(write);
  tasks.check = graph.add(Step::kCheck, std::move(check));
  Task commit{.run = [checks, view] { return checks->commit(view); },
              .needs = {tasks.check},
              .shares = {{SceneGraph::kCommits}},
              .takes_over = tasks.check,
              .saves = true};
  tasks.commit = graph.add(Step::kCheck, std::move(commit));
}

}  // namespace

void add_checks(SceneGraph& graph) {
  if (std::exchange(graph.has_checks, true)) return;
  const SceneJob& job = graph.job;
  const auto checks = std::make_shared<Checks>(graph);
  std::vector<std::vector<TaskId>> users(graph.views.size());  // of the maps of each view
  for (const int view : job.plan.views_in_scope()) {
    if (graph.views[view].write < 0 && job.products.result(Step::kEstimate, view) == nullptr) continue;
    add_check(graph, checks, view);
    users[view].push_back(graph.views[view].commit);
    for (const int source : job.plan.view(view).sources) users[source].push_back(graph.views[view].commit);
  }
  for (int view = 0; view < std::ssize(users); ++view)
    if (!users[view].empty())
      graph.add(Step::kCheck, {.run = [checks, view] { return checks->release(view); },
                               .after = users[view],
                               .shares = {{SceneGraph::kCommits}}});
  add_fusion_beside(graph);
}

void check_views(SceneGraph& graph) {
  add_checks(graph);
  const SceneJob& job = graph.job;
  const std::vector<int> views = job.products.views_with(Step::kEstimate);
  warn_of_min_views(graph.job.plan, graph.job.settings, graph.job.findings);
  const int count = static_cast<int>(views.size());
  graph.progress(Step::kCheck).show(job, Step::kCheck, count, count);
  graph.scheduler.set_pool(SceneGraph::kChecks, static_cast<std::size_t>(job.memory.check_at_once));
  graph.wait(Step::kCheck, true);
  log_kept(job.products, Step::kCheck, views, true);
}

}  // namespace recon
