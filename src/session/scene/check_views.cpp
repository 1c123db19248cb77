#include "session/scene/check_views.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "fuse/consistency.hpp"
#include "fuse/reliability.hpp"
#include "fuse/reprojection.hpp"
#include "io/image_file.hpp"
#include "io/map_files.hpp"
#include "session/background_work.hpp"
#include "session/resume/step_inputs.hpp"
#include "session/scene/depth_histogram.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

DepthView depth_view(const SceneRun& run, int view, const ViewDepth& maps) {
  return {run.plan.view(view).camera, run.plan.scene_view(view).cam_from_world, maps.depth.view(),
          maps.normal.view(), maps.confidence.view()};
}

std::vector<int> estimated_sources(const SceneRun& run, int view) {
  std::vector<int> sources;
  for (const int source : run.plan.view(view).sources)
    if (run.state(source).estimate) sources.push_back(source);
  return sources;
}

/// The maps of a view where `keep(x, y)`.
template <class Keep>
ViewDepth kept(const ViewDepth& maps, const Keep& keep) {
  const int width = maps.depth.width(), height = maps.depth.height();
  ViewDepth result{Image<float>(width, height), Image<Vec3f>(width, height), Image<float>(width, height)};
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      const bool it = keep(x, y);
      result.depth(x, y) = it ? maps.depth(x, y) : kUnknown;
      result.normal(x, y) = it ? maps.normal(x, y) : Vec3f{kUnknown, kUnknown, kUnknown};
      result.confidence(x, y) = it ? maps.confidence(x, y) : kUnknown;
    }
  });
  return result;
}

/// `maps` where enough sources agree and, for patches, the depth is reliable enough; their confidence is then
/// the reliability. The sources are asked one after the other, so that only one is in memory.
ViewDepth checked(SceneRun& run, int view, const ViewDepth& maps, const std::vector<int>& sources) {
  const ConsistencyOptions& options = run.options.consistency;
  // A scene of few views cannot ask for more than it has.
  const int wanted = std::min(options.min_views, std::max(1, static_cast<int>(sources.size())));
  Image<Agreement> agreement(maps.depth.width(), maps.depth.height(), {});
  for (const int source : sources) {
    const auto source_maps = run.photometric->get(run.plan.view(source).output_name);
    count_agreement(depth_view(run, view, maps), depth_view(run, source, *source_maps), options,
                    agreement.view());
  }
  const auto agreed = [&](int x, int y) { return agreement(x, y).agree >= wanted; };
  ViewDepth result = kept(maps, agreed);
  if (!run.options.swept_by_patches(run.job)) return result;
  const Image<float> variation = inverse_depth_variation(maps.depth.view());
  const float min_confidence = run.options.min_reliability();
  parallel_for(maps.depth.height(), [&](int y) {
    for (int x = 0; x < maps.depth.width(); ++x) {
      float& confidence = result.confidence(x, y);
      if (!agreed(x, y)) continue;
      confidence = reliability(agreement(x, y), 1.0f - maps.confidence(x, y), variation(x, y));
      if (confidence >= min_confidence) continue;
      result.depth(x, y) = confidence = kUnknown;
      result.normal(x, y) = {kUnknown, kUnknown, kUnknown};
    }
  });
  return result;
}

CheckedView check_view(SceneRun& run, int view) {
  const std::string& name = run.plan.view(view).output_name;
  const std::vector<int> sources = estimated_sources(run, view);
  StepRecord record;
  record.inputs = check_inputs(run, view, sources);
  FinishedStep finished = find_finished(run, Step::kCheck, view, record.inputs);
  if (finished.record) return {std::move(finished.record), true, {}};

  const auto maps = run.photometric->get(name);
  const auto result = std::make_shared<const ViewDepth>(checked(run, view, *maps, sources));
  run.geometric->insert(name, result);
  record.outputs = run.geometric->write(name, *result);
  const std::string preview = Workspace::preview_file(name);
  record.outputs.push_back(
      {preview, write_image(run.workspace.path(preview), depth_preview(result->depth.view()).view())});
  const std::string confidence = Workspace::confidence_preview_file(name);
  record.outputs.push_back({confidence, write_image(run.workspace.path(confidence),
                                                    confidence_preview(result->confidence.view()).view())});
  record.result = {{"known", known_share(result->depth)},
                   {"depths", histogram_json(depth_histogram(result->depth.view()))}};
  write_record(run.workspace.path(run.record_file(Step::kCheck, view)), record);
  return {std::move(record), false, finished.reason};
}

}  // namespace

ViewChecks::ViewChecks(SceneRun& run)
    : run_(run), views_(run.plan.views_in_scope()), results_(views_.size()), users_(run.plan.views.size()) {
  for (std::size_t i = 0; i < views_.size(); ++i)
    for (const int view : needed_maps(i)) ++users_[static_cast<std::size_t>(view)];
}

ViewChecks::~ViewChecks() {
  stop_ = true;
  if (arena_) arena_->execute([this] { group_.wait(); });
}

void ViewChecks::begin_beside(const std::vector<int>& views) {
  if (run_.memory.checks_beside == 0) return;
  // One slot is for the thread that waits in the end.
  arena_.emplace(run_.memory.checks_beside, 1, oneapi::tbb::task_arena::priority::low);
  std::vector<bool> expected(run_.plan.views.size());
  for (const int view : views) expected[static_cast<std::size_t>(view)] = true;
  const std::lock_guard lock(mutex_);
  dependents_.resize(expected.size());
  waits_for_.resize(views_.size());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    for (const int view : needed_maps(i)) {
      if (!expected[static_cast<std::size_t>(view)]) continue;
      dependents_[static_cast<std::size_t>(view)].push_back(i);
      ++waits_for_[i];
    }
    if (waits_for_[i] == 0) enqueue(i);
  }
}

void ViewChecks::estimated(int view) {
  if (!arena_) return;
  const std::lock_guard lock(mutex_);
  for (const std::size_t i : dependents_[static_cast<std::size_t>(view)])
    if (--waits_for_[i] == 0) enqueue(i);
}

/// The view and its sources.
std::vector<int> ViewChecks::needed_maps(std::size_t i) const {
  std::vector<int> views = run_.plan.view(views_[i]).sources;
  views.push_back(views_[i]);
  return views;
}

void ViewChecks::enqueue(std::size_t i) {
  // A loop that waits must not begin another check: their number bounds the memory.
  const auto work = [this, i] { oneapi::tbb::this_task_arena::isolate([this, i] { check(i); }); };
  arena_->enqueue(group_.defer(work));
}

void ViewChecks::check(std::size_t i) {
  if (stop_) return;
  first_.guard([this, i] {
    check_interrupted();
    const bool estimated = run_.state(views_[i]).estimate.has_value();
    if (estimated) results_[i] = check_view(run_, views_[i]);
    release_maps(i);
    if (!estimated) return;
    const std::lock_guard lock(mutex_);
    ++checked_;
    if (progress_) progress_->advance();
  });
}

/// Frees the maps that no other check needs.
void ViewChecks::release_maps(std::size_t i) {
  for (const int view : needed_maps(i))
    if (--users_[static_cast<std::size_t>(view)] == 0)
      run_.photometric->release(run_.plan.view(view).output_name);
}

void ViewChecks::finish() {
  const auto estimates = std::count_if(views_.begin(), views_.end(),
                                       [&](int view) { return run_.state(view).estimate.has_value(); });
  {
    const std::lock_guard lock(mutex_);
    progress_.emplace("check across views", static_cast<int>(estimates), progress_style(run_.options.quiet));
    progress_->advance(checked_);
  }
  if (arena_)
    arena_->execute([this] { group_.wait(); });
  else
    bounded_parallel_for(static_cast<int>(views_.size()), run_.memory.check_at_once,
                         [this](int i) { check(static_cast<std::size_t>(i)); });
  first_.rethrow();
  std::vector<std::pair<std::string, std::string>> redone;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    ViewState& state = run_.state(views_[i]);
    if (!state.estimate) continue;
    state.check = std::move(results_[i].record);
    state.check_kept = results_[i].kept;
    if (!results_[i].kept) redone.emplace_back(run_.plan.name(views_[i]), results_[i].reason);
  }
  log_resumed("check across views", static_cast<std::size_t>(estimates) - redone.size(), redone);
}

}  // namespace recon
