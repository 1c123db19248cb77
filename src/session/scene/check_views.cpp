#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "refine/mean_normals.hpp"
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
  explicit Checks(SceneGraph& graph)
      : graph_(graph),
        products_(graph.job.products),
        plan_(graph.job.plan),
        inputs_(graph.job.inputs),
        settings_(graph.job.settings.check),
        findings_(graph.job.findings),
        stale_(products_, Step::kCheck),
        results_(graph.views.size()) {
    // They count in turn what the sources of a view say of it.
    for (const auto& backend : graph.backends) backends_.push_back(backend.get());
  }

  /// Checks a view, unless it is checked already. Its maps are then in memory if the budget allows, its files
  /// complete but for `commit`.
  TaskEnd check(int view) {
    const std::string& name = plan_.view(view).output_name;
    const std::vector<int> sources = estimated_sources(products_, view);
    StepRecord record;
    record.inputs = inputs_.check(view, sources);
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
      for (WrittenFile& file : result->files) result->record.outputs.push_back(file.commit());
      products_.results.put(products_.key(Step::kCheck, view), std::move(result->record));
    }
    graph_.progress(Step::kCheck).advance(/*kept=*/!result);
    return TaskEnd::kDone;
  }

  /// Frees the maps of a view before the check, and with --clean removes their files.
  TaskEnd release(int view) {
    products_.maps.release(MapKind::kPhotometric, plan_.view(view).output_name);
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
    ViewCheck check{depth_source(view), {}, mask.view(), {}, {}};
    for (const int source : sources) check.sources.push_back(depth_source(source));
    check.count_agreement = [&] { return agreement(view, check.reference, check.sources); };
    const Pinhole& camera = check.reference.camera;
    check.normals = [&](ImageView<const float> depth) {
      return on_backend(
          view, [&](Backend& backend) { return backend.checked_normals(depth, camera); },
          [&] { return checked_normals(depth, camera); });
    };
    return check_view(check, *photometric(view), settings_);
  }

  std::shared_ptr<const ViewDepth> photometric(int view) const {
    const ViewPlan& plan = plan_.view(view);
    return products_.maps.get(MapKind::kPhotometric, plan.output_name, plan.camera);
  }

  DepthSource depth_source(int view) const {
    const auto load = [this, view] {
      auto maps = photometric(view);
      const ViewDepth& loaded = *maps;
      return DepthSource::Maps{loaded.depth.view(), loaded.normal.view(), std::move(maps)};
    };
    return {plan_.view(view).camera, plan_.scene_view(view).cam_from_world, graph_.map_id(view), load};
  }

  /// What the sources say of the depths of a view.
  Image<Agreement> agreement(int view, const DepthSource& reference,
                             const std::vector<DepthSource>& sources) {
    const ConsistencyOptions& options = settings_.consistency;
    return on_backend(
        view, [&](Backend& backend) { return backend.count_agreement(reference, sources, options); },
        [&] { return count_agreement(reference, sources, options); });
  }

  /// The result of `work` on the backend of a view or, if it fails, of `here`.
  template <class Work, class Here>
  auto on_backend(int view, const Work& work, const Here& here) -> decltype(here()) {
    if (Backend* backend = backend_for(view)) try {
        return work(*backend);
      } catch (const DeviceError& error) {
        give_up(backend, error);
      } catch (const OutOfMemory& error) {
        give_up(backend, error);
      }
    return here();
  }

  Backend* backend_for(int view) {
    const std::lock_guard lock(mutex_);
    return backends_.empty() ? nullptr : backends_[static_cast<std::size_t>(view) % backends_.size()];
  }

  void give_up(const Backend* backend, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (std::erase(backends_, backend) > 0)
      findings_.warn(backend->name() + " fails, the check continues without it: " + error.what());
  }

  SceneGraph& graph_;
  SceneProducts& products_;
  const ScenePlan& plan_;
  const StepInputs& inputs_;
  const CheckSettings& settings_;
  Findings& findings_;
  StaleNotice stale_;
  std::vector<std::optional<Result>> results_;  ///< by view
  std::mutex mutex_;
  std::vector<Backend*> backends_;  ///< those that have not failed
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

namespace {

/// A view with fewer sources cannot ask for more than it has.
void warn_of_min_views(SceneJob& job) {
  int most = 0;
  for (const int view : job.plan.views_in_scope())
    most = std::max(most, static_cast<int>(job.plan.view(view).sources.size()));
  if (job.settings.check.consistency.min_views > most)
    job.findings.warn(
        fmt::format("depths need the agreement of {} instead of {} views, as no view has more sources; lower "
                    "--min-views, or raise --sources",
                    most, job.settings.check.consistency.min_views));
}

}  // namespace

void check_views(SceneGraph& graph) {
  add_checks(graph);
  const SceneJob& job = graph.job;
  std::vector<int> views = job.plan.views_in_scope();
  std::erase_if(views, [&](int view) { return job.products.result(Step::kEstimate, view) == nullptr; });
  warn_of_min_views(graph.job);
  const int count = static_cast<int>(views.size());
  graph.progress(Step::kCheck).show(job, Step::kCheck, count, count);
  graph.scheduler.set_pool(SceneGraph::kChecks, static_cast<std::size_t>(job.memory.check_at_once));
  graph.wait(Step::kCheck, true);
  log_kept(job.products, Step::kCheck, views, true);
}

}  // namespace recon
