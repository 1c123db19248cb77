
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "io/file/input_file.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pair_depth.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "refine/normals.hpp"
#include "session/diagnose/photo_check.hpp"
#include "session/products/masks.hpp"
#include "session/scene/dense_model.hpp"
#include "session/scene/scene_graph.hpp"
#include "session/scene/scene_job.hpp"
#include "session/scene/scene_work.hpp"

namespace recon {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// `views` in the order in which fusion needs them checked, each after the sources of its check.
std::vector<int> in_order_of_use(const ScenePlan& plan, const std::vector<int>& views) {
  std::vector<bool> wanted(plan.views.size());
  for (const int view : views) wanted[view] = true;
  std::vector<int> ordered;
  const auto add = [&](int view) {
    if (!wanted[view]) return;
    wanted[view] = false;
    ordered.push_back(view);
  };
  std::vector<bool> checked(plan.views.size());
  const auto add_check = [&](int view) {
    if (checked[view]) return;
    checked[view] = true;
    add(view);
    for (const int source : plan.view(view).sources) add(source);
  };
  const std::vector<std::vector<int>> overlaps = plan.overlaps();
  for (const int view : plan.views_in_scope()) {
    add_check(view);
    for (const int neighbour : overlaps[view])
      if (plan.view(neighbour).in_scope) add_check(neighbour);
  }
  for (const int view : views) add(view);
  return ordered;
}

/// The estimation of views on devices, each of which takes as many at once as it has slots.
class Estimation {
 public:
  explicit Estimation(SceneGraph& graph) : graph_(graph), results_(graph.views.size()) {
    for (const auto& backend : graph.backends)
      devices_.push_back({*backend, backend->streams() * memory_.threads_a_stream, false});
  }

  /// Estimates a view on a device with a free slot. One whose device fails is left to the others.
  /// @throws DeviceError, OutOfMemory when the last device fails; Interrupted
  TaskEnd estimate(int view) {
    Device* const device = take_device();
    if (device == nullptr) return TaskEnd::kAgain;
    TaskEnd end = TaskEnd::kDone;
    try {
      estimate_on(device->backend, view);
    } catch (const InputError& error) {
      end = fail(view, error.what());
    } catch (const DeviceError& error) {
      return give_up(*device, error);
    } catch (const OutOfMemory& error) {
      return give_up(*device, error);
    }
    const std::lock_guard lock(mutex_);
    if (!device->failed) ++device->free;
    return end;
  }

  /// Writes the maps of an estimated view.
  TaskEnd write(int view) {
    const Result result = std::exchange(results_[view], {});
    const std::string& name = plan_.view(view).output_name;
    StepRecord record;
    record.inputs = graph_.job.inputs.estimate(view);
    WrittenFile depth = products_.maps.write_depth(MapKind::kPhotometric, name, *result.maps);
    WrittenFile confidence = products_.maps.write_confidence(MapKind::kPhotometric, name, *result.maps);
    const ResultKey key = products_.key(Step::kEstimate, view);
    products_.results.begin(key);
    record.outputs = {depth.commit(), confidence.commit()};
    record.result = result.record;
    products_.results.put(key, std::move(record));
    graph_.progress(Step::kEstimate).advance();
    return TaskEnd::kDone;
  }

 private:
  using Channels = std::vector<std::shared_ptr<const PhotoStore::Channels>>;

  /// A backend admits as many calls as it has streams; spare slots filter their views meanwhile.
  struct Device {
    Backend& backend;
    int free = 0;  ///< slots
    bool failed = false;
  };
  struct Result {
    std::shared_ptr<const ViewDepth> maps;
    nlohmann::json record;
  };

  /// Takes a slot of the device that has most of them; null: there is none.
  Device* take_device() {
    const std::lock_guard lock(mutex_);
    const auto most = std::ranges::max_element(devices_, {}, &Device::free);
    if (most->free == 0) return nullptr;
    --most->free;
    return &*most;
  }

  /// Leaves the views of a device that works no longer to the others.
  TaskEnd give_up(Device& device, const Error& error) {
    const std::lock_guard lock(mutex_);
    const bool first = !std::exchange(device.failed, true);
    device.free = 0;
    std::size_t slots = 0;
    for (const Device& it : devices_)
      if (!it.failed) slots += static_cast<std::size_t>(it.backend.streams() * memory_.threads_a_stream);
    if (slots == 0) throw;
    graph_.scheduler.set_pool(SceneGraph::kSlots, slots);
    if (first)
      findings_.warn(device.backend.name() + " fails, the other devices take its views: " + error.what());
    return TaskEnd::kAgain;
  }

  TaskEnd fail(int view, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    findings_.fail(plan_.name(view), "failed", reason);
    graph_.progress(Step::kEstimate).advance();
    return TaskEnd::kFailed;
  }

  void estimate_on(Backend& backend, int view) {
    const auto start = Clock::now();
    nlohmann::json record = {{"device", backend.name()}};
    const auto maps = std::make_shared<ViewDepth>(maps_of(backend, view, record));
    keep_within(matching_.bounds, *maps);
    round_confidences(maps->confidence.view());
    if (graph_.job.targets.does(Step::kCheck)) {
      maps->normal = normals(backend, view, maps->depth.view());
      products_.maps.insert(MapKind::kPhotometric, plan_.view(view).output_name, maps);
    }
    record["known"] = known_share(maps->depth);
    record["seconds"] = seconds_since(start);
    results_[view] = {maps, std::move(record)};
  }

  ViewDepth maps_of(Backend& backend, int view, nlohmann::json& record) {
    if (given_.any()) return given_maps(view);
    return matching_.sweeps() ? sweep(backend, view, record) : match_pairs(backend, view);
  }

  ViewDepth given_maps(int view) const {
    ViewDepth maps = given_.read(plan_, view);
    return finish_view(std::move(maps.depth), std::move(maps.confidence),
                       prepared_mask(products_, view).view(), false, 0);
  }

  /// The host has them where the device fails, which the next sweep will show.
  Image<Vec3f> normals(Backend& backend, int view, ImageView<const float> depth) const {
    const Pinhole& camera = plan_.view(view).camera;
    try {
      return backend.normals(depth, camera, graph_.map_id(view));
    } catch (const DeviceError&) {
    } catch (const OutOfMemory&) {
    }
    return normals_from_depth(depth, camera);
  }

  /// The channels of the photos of a view and then of those that it is matched with.
  /// @throws InputError when a photo cannot be read
  Channels channels_of(int view) {
    std::vector<int> views = plan_.view(view).matched_views();
    views.insert(views.begin(), view);
    Channels channels(views.size());
    bounded_parallel_for(static_cast<int>(views.size()), memory_.photos_a_thread,
                         [&](int i) { channels[i] = products_.photos.channels(plan_, views[i]); });
    return channels;
  }

  /// @param record  takes the depths that were found
  ViewDepth sweep(Backend& backend, int view, nlohmann::json& record) {
    SweepProblem problem = sweep_problem(plan_, view, matching_);
    std::shared_ptr<const PhotoStore::Colour> colours;  // first: one reading gives them and the channels
    if (has_step(problem.refine, kNeedsColours))
      problem.colours = (colours = products_.photos.colour(plan_, view))->view();
    const Channels channels = channels_of(view);
    set_all_pixels(
        [&](std::size_t i) -> const auto& { return *channels[i]; }, problem);
    if (const auto range = narrow_planes(backend, plan_, view, matching_, problem)) {
      messages().debug("{}: depths from {:.5g} to {:.5g}, {} planes", plan_.name(view), range->near,
                       range->far, problem.planes.count);
      record["found_depths"] = {range->near, range->far};
    }
    return estimate_view(backend, problem, matching_.filter, prepared_mask(products_, view).view());
  }

  ViewDepth match_pairs(Backend& backend, int view) {
    const Channels channels = channels_of(view);
    const auto image_of = [&](int index, const PhotoStore::Channels& pixels) {
      PosedImage image = posed_view(plan_, index, static_cast<int>(pixels.size()));
      set_pixels(pixels, 0, image);
      return image;
    };
    std::vector<PairSource> sources;
    for (const ViewPair& it : plan_.view(view).pairs)
      sources.push_back({image_of(it.source, *channels[sources.size() + 1]), it.pair});
    const auto match = [&](const PairProblem& problem) { return backend.match(problem); };
    return estimate_view_from_pairs(match, image_of(view, *channels.front()), sources,
                                    pair_depth_options(matching_), prepared_mask(products_, view).view());
  }

  SceneGraph& graph_;
  SceneProducts& products_ = graph_.job.products;
  const ScenePlan& plan_ = graph_.job.plan;
  const GivenMaps& given_ = graph_.job.input.given;
  const MatchingSettings& matching_ = graph_.job.settings.matching;
  const MemoryPlan& memory_ = graph_.job.memory;
  Findings& findings_ = graph_.job.findings;
  std::mutex mutex_;  ///< of the devices, and of the views that fail
  std::vector<Device> devices_;
  std::vector<Result> results_;  ///< by view, until they are written
};

}  // namespace

void add_dense_model(SceneGraph& graph) {
  const auto write = [&job = graph.job] {
    job.products.results.write(model_files(), [&] { write_dense_model(job.plan, job.products.workspace); });
    return TaskEnd::kDone;
  };
  if (graph.job.memory.model_beside)
    graph.add(Step::kEstimate, {.run = write});
  else
    write();
}

void add_photo_check(SceneGraph& graph) {
  SceneJob& job = graph.job;
  const auto check = [&job] {
    check_photos_fit({job.input, job.products, job.settings.plan.selection, job.host},
                     job.targets.does(Step::kCheck), job.findings);
    return TaskEnd::kDone;
  };
  if (job.memory.checks_beside > 0)
    graph.add(Step::kEstimate, {.run = check});
  else
    check();
}

namespace {

/// Adds the estimation of the views that have no depth map yet.
void add_estimation(SceneGraph& graph) {
  SceneJob& job = graph.job;
  std::vector<int> views = job.views_to_estimate();
  log_kept(job.products, Step::kEstimate, job.plan.active_views());
  StaleNotice(job.products, Step::kEstimate).add_all(job.plan.active_views());
  if (views.empty()) return;
  if (job.memory.fusion_beside) views = in_order_of_use(job.plan, views);
  const auto estimation = std::make_shared<Estimation>(graph);
  for (const int view : views) {
    Task estimate{.run = [estimation, view] { return estimation->estimate(view); },
                  .shares = {{SceneGraph::kSlots}, {SceneGraph::kResults, 1, true}}};
    const TaskId estimated = graph.add(Step::kEstimate, std::move(estimate));
    Task write{.run = [estimation, view] { return estimation->write(view); },
               .needs = {estimated},
               .shares = {{SceneGraph::kWrites}},
               .takes_over = estimated,
               .saves = true};
    graph.views[view].write = graph.add(Step::kEstimate, std::move(write));
  }
  if (job.targets.does(Step::kCheck) && job.memory.checks_beside > 0)
    job.targets.does(Step::kPlanes) ? add_plane_search(graph) : add_checks(graph);
  graph.progress(Step::kEstimate)
      .show(job, Step::kEstimate, static_cast<int>(views.size()),
            static_cast<int>(job.plan.active_views().size()));
}

}  // namespace

void estimate_views(SceneGraph& graph) {
  if (graph.job.targets.does(Step::kEstimate)) add_estimation(graph);
  graph.wait(Step::kEstimate, false);
}

}  // namespace recon
