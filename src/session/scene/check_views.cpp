#include "session/scene/check_views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "core/unique_id.hpp"
#include "fuse/holes.hpp"
#include "fuse/islands.hpp"
#include "fuse/reliability.hpp"
#include "io/image_file.hpp"
#include "io/map_files.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "session/resume/step_inputs.hpp"
#include "session/scene/depth_histogram.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

std::vector<int> estimated_sources(const SceneRun& run, int view) {
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources)
    if (run.state(source).estimate) sources.push_back(source);
  return sources;
}

/// `maps` where enough sources agree and, for patches, the depth is reliable enough, see keeps_depth; their
/// confidence is then the reliability.
ViewDepth checked(const SceneRun& run, const ViewDepth& maps, const Image<Agreement>& agreement,
                  const ConsistencyOptions& consistency) {
  const int width = maps.depth.width(), height = maps.depth.height();
  const bool patches = run.options.swept_by_patches(run.job);
  const Image<float> variation = patches ? inverse_depth_variation(maps.depth.view()) : Image<float>();
  const float min_confidence = run.options.min_reliability();
  ViewDepth result{Image<float>(width, height), Image<Vec3f>(width, height), Image<float>(width, height)};
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      float confidence = maps.confidence(x, y);
      bool keep = agreement(x, y).agree >= consistency.min_views;
      if (patches && !std::isnan(maps.depth(x, y))) {
        const Agreement& said = agreement(x, y);
        confidence =
            rounded_confidence(said.known > 0 ? reliability(said, variation(x, y))
                                              : lone_reliability(1.0f - confidence, variation(x, y)));
        keep = keeps_depth(agreement(x, y), confidence, consistency, min_confidence);
      }
      result.depth(x, y) = keep ? maps.depth(x, y) : kUnknown;
      result.normal(x, y) = keep ? maps.normal(x, y) : Vec3f{kUnknown, kUnknown, kUnknown};
      result.confidence(x, y) = keep ? confidence : kUnknown;
    }
  });
  return result;
}

}  // namespace

ViewChecks::ViewChecks(SceneRun& run, const Backends& backends)
    : run_(run),
      first_id_(unique_ids(run.plan.views.size())),
      views_(run.plan.views_in_scope()),
      reasons_(views_.size()),
      users_(run.plan.views.size()),
      computed_(views_.size()),
      ended_(views_.size()),
      commits_(kConcurrentCommits, kConcurrentCommits) {
  for (const auto& backend : backends) backends_.push_back(backend.get());
  for (std::size_t i = 0; i < views_.size(); ++i)
    for (const int view : needed_maps(i)) ++users_[view];
}

ViewChecks::~ViewChecks() {
  stop_ = true;
  if (arena_) arena_->execute([this] { group_.wait(); });
  try {
    commits_.finish();
  } catch (...) {  // the run has ended with an error already
  }
}

void ViewChecks::begin_beside(const std::vector<int>& views) {
  if (run_.memory.checks_beside == 0) return;
  // One slot is for the thread that waits in the end.
  arena_.emplace(run_.memory.checks_beside, 1, oneapi::tbb::task_arena::priority::low);
  std::vector<bool> expected(run_.plan.views.size());
  for (const int view : views) expected[view] = true;
  const std::lock_guard lock(mutex_);
  dependents_.resize(expected.size());
  waits_for_.resize(views_.size());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    for (const int view : needed_maps(i)) {
      if (!expected[view]) continue;
      dependents_[view].push_back(i);
      ++waits_for_[i];
    }
    if (waits_for_[i] == 0) add_ready(i);
  }
}

void ViewChecks::estimated(int view) {
  if (!arena_) return;
  const std::lock_guard lock(mutex_);
  for (const std::size_t i : dependents_[view])
    if (--waits_for_[i] == 0) add_ready(i);
}

/// Adds a view that can be checked beside, and a worker for it if there may be another. The mutex is locked.
void ViewChecks::add_ready(std::size_t i) {
  ready_.push_back(i);
  if (workers_ == run_.memory.checks_beside) return;
  ++workers_;
  // A loop that waits must not begin another check: their number bounds the memory.
  const auto work = [this] { oneapi::tbb::this_task_arena::isolate([this] { check_ready(); }); };
  arena_->enqueue(group_.defer(work));
}

/// A worker: checks views that are ready until there is none, or until `finish` continues.
void ViewChecks::check_ready() {
  std::unique_lock lock(mutex_);
  while (!ready_.empty() && !stop_ && !finishing_) {
    const std::size_t i = ready_.front();
    ready_.pop_front();
    lock.unlock();
    check(i);
    lock.lock();
  }
  --workers_;
}

/// The view and its sources.
std::vector<int> ViewChecks::needed_maps(std::size_t i) const {
  std::vector<int> views = run_.plan.view(views_[i]).sources;
  views.push_back(views_[i]);
  return views;
}

void ViewChecks::check(std::size_t i) {
  if (stop_ || failed()) return;
  bool commits = false;
  first_.guard([&] {
    check_interrupted();
    commits = run_.state(views_[i]).estimate && begin_check(i);
  });
  if (!commits) end(i);
}

/// The check of a view has ended: with its files on the disk, an error, or no estimate.
void ViewChecks::end(std::size_t i) {
  first_.guard([&] { release_maps(i); });
  const std::lock_guard lock(mutex_);
  ended_[i] = true;
  if (run_.state(views_[i]).check) {
    ++checked_;
    if (progress_) progress_->advance();
  }
  changed_.notify_all();
}

std::shared_ptr<const ViewDepth> ViewChecks::take(int view, const std::stop_token& stop) {
  const auto i =
      static_cast<std::size_t>(std::lower_bound(views_.begin(), views_.end(), view) - views_.begin());
  const std::string& name = run_.plan.view(view).output_name;
  const auto wait_until = [&](const auto& reached) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, reached) && !stop.stop_requested();
  };
  if (!wait_until([&] { return computed_[i] || ended_[i]; })) return nullptr;
  if (auto maps = run_.geometric->take_cached(name)) return maps;
  if (!wait_until([&] { return ended_[i]; }) || !run_.state(view).check) return nullptr;
  return run_.geometric->take(name, run_.plan.view(view).camera);
}

void ViewChecks::fail(const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  first_.guard([&] { std::rethrow_exception(error); });
}

/// Checks a view, unless it is checked already. The thread does not wait for its files: whether `end` is
/// called later.
bool ViewChecks::begin_check(std::size_t i) {
  const int view = views_[i];
  ViewState& state = run_.state(view);
  const std::string& name = run_.plan.view(view).output_name;
  const std::vector<int> sources = estimated_sources(run_, view);
  StepRecord record;
  record.inputs = check_inputs(run_, view, sources);
  FinishedStep finished = find_finished(run_, Step::kCheck, view, record.inputs);
  reasons_[i] = finished.reason;
  state.check_kept = finished.record.has_value();
  if (state.check_kept) {
    state.check = std::move(finished.record);
    return false;
  }
  const auto result = std::make_shared<const ViewDepth>(checked_maps(view, sources));
  run_.geometric->insert(name, result);
  {
    const std::lock_guard lock(mutex_);
    computed_[i] = true;
  }
  changed_.notify_all();
  const auto files = std::make_shared<std::vector<WrittenFile>>(write_results(name, *result, record.result));
  // What is finished is kept, also when another check has failed.
  commits_.submit([this, i, files, record] {
    try {
      commit(i, *files, record);
    } catch (...) {
      fail(std::current_exception());
    }
    end(i);
  });
  return true;
}

/// Gives the files of a view their names, and sets its state.
void ViewChecks::commit(std::size_t i, std::vector<WrittenFile>& files, StepRecord record) {
  for (WrittenFile& file : files) record.outputs.push_back(file.commit());
  replace_record(run_.workspace, run_.record_file(Step::kCheck, views_[i]), record);
  run_.state(views_[i]).check = std::move(record);
}

/// Writes the maps of a view and their previews, and sums them up, all at once.
std::vector<WrittenFile> ViewChecks::write_results(const std::string& name, const ViewDepth& maps,
                                                   nlohmann::json& result) const {
  const MapStore& store = *run_.geometric;
  const auto preview = [this](const std::string& file, const auto& image) {
    return WrittenFile{file, image_file(run_.workspace.path(file), image.view())};
  };
  std::array<std::optional<WrittenFile>, 5> files;
  const std::array<std::function<void()>, 6> longest_first = {
      [&] { files[3].emplace(preview(Workspace::preview_file(name), depth_preview(maps.depth.view()))); },
      [&] {
        result = {{"known", known_share(maps.depth)},
                  {"depths", histogram_json(depth_histogram(maps.depth.view()))}};
      },
      [&] { files[1].emplace(store.write_normal(name, maps)); },
      [&] { files[0].emplace(store.write_depth(name, maps)); },
      [&] { files[2].emplace(store.write_confidence(name, maps)); },
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
ViewDepth ViewChecks::checked_maps(int view, const std::vector<int>& sources) {
  const DepthSource reference = depth_source(view);
  std::vector<DepthSource> others;
  for (const int source : sources) others.push_back(depth_source(source));
  // A scene of few views cannot ask for more than it has.
  ConsistencyOptions consistency = run_.options.check_consistency(run_.job);
  if (sources.empty()) consistency.min_lone_confidence = 1;  // nothing is checked then
  consistency.min_views = std::min(consistency.min_views, std::max(1, static_cast<int>(sources.size())));
  const auto maps = photometric(view);
  const Image<Agreement> said = agreement(view, reference, others);
  ViewDepth result = checked(run_, *maps, said, consistency);
  const Image<std::uint8_t> mask = prepared_mask(run_, view);
  const CheckedMaps checked_view{result.depth.view(), result.normal.view(), result.confidence.view(),
                                 mask.view()};
  fill_holes(checked_view, reference, others,
             {run_.options.hole_reach(run_.job), run_.options.min_reliability(), consistency});
  keep_within(run_.options.depth, result);  // interpolated depths are rounded
  if (run_.options.swept_by_patches(run_.job))
    remove_islands(checked_view, said.view(), reference.camera, run_.options.filter.speckle_size);
  round_confidences(result.confidence.view());
  return result;
}

std::shared_ptr<const ViewDepth> ViewChecks::photometric(int view) const {
  return run_.photometric->get(run_.plan.view(view).output_name, run_.plan.view(view).camera);
}

DepthSource ViewChecks::depth_source(int view) const {
  const auto load = [this, view] {
    auto maps = photometric(view);
    const ViewDepth& loaded = *maps;
    return DepthSource::Maps{loaded.depth.view(), loaded.normal.view(), std::move(maps)};
  };
  return {run_.plan.view(view).camera, run_.plan.scene_view(view).cam_from_world, map_id(view), load};
}

/// What the sources say of the depths of a view: counted by a backend or, if it fails, here.
Image<Agreement> ViewChecks::agreement(int view, const DepthSource& reference,
                                       const std::vector<DepthSource>& sources) {
  const ConsistencyOptions options = run_.options.check_consistency(run_.job);
  if (Backend* backend = backend_for(view)) try {
      return backend->count_agreement(reference, sources, options);
    } catch (const DeviceError& error) {
      give_up(backend, error);
    } catch (const OutOfMemory& error) {
      give_up(backend, error);
    }
  return count_agreement(reference, sources, options);
}

Backend* ViewChecks::backend_for(int view) {
  const std::lock_guard lock(mutex_);
  return backends_.empty() ? nullptr : backends_[static_cast<std::size_t>(view) % backends_.size()];
}

void ViewChecks::give_up(const Backend* backend, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (std::erase(backends_, backend) > 0)
    run_.warn(backend->name() + " fails, the check continues without it: " + error.what());
}

/// Frees the maps that no other check needs, and with --clean removes their files.
void ViewChecks::release_maps(std::size_t i) {
  for (const int view : needed_maps(i)) {
    if (--users_[view] > 0) continue;
    run_.photometric->release(run_.plan.view(view).output_name);
    if (run_.options.clean) clean_maps(run_, view);
  }
}

void ViewChecks::finish() {
  const int estimates = static_cast<int>(std::count_if(
      views_.begin(), views_.end(), [&](int view) { return run_.state(view).estimate.has_value(); }));
  {
    const std::lock_guard lock(mutex_);
    progress_.emplace("check across views", estimates, progress_style(run_.options.quiet),
                      run_.predicted("check across views", estimates - checked_, estimates));
    progress_->skip(checked_);
    finishing_ = true;
  }
  if (arena_) arena_->execute([this] { group_.wait(); });
  commits_.finish();
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (!ended_[i]) left.push_back(i);
  bounded_parallel_for(static_cast<int>(left.size()), run_.memory.check_at_once,
                       [&](int k) { check(left[k]); });
  commits_.finish();
  {
    const std::lock_guard lock(mutex_);  // no check is left, but the fusion may call `fail`
    first_.rethrow();
  }
  std::vector<std::pair<std::string, std::string>> redone;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ViewState& state = run_.state(views_[i]);
    if (state.estimate && !state.check_kept) redone.emplace_back(run_.plan.name(views_[i]), reasons_[i]);
  }
  log_resumed("check across views", static_cast<std::size_t>(estimates) - redone.size(), redone);
}

}  // namespace recon
