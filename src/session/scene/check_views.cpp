#include "session/scene/check_views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/unique_id.hpp"
#include "fuse/holes.hpp"
#include "fuse/islands.hpp"
#include "fuse/reliability.hpp"
#include "io/image_file.hpp"
#include "io/map_files.hpp"
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
      reasons_(run.plan.views.size()),
      results_(run.plan.views.size()) {
  for (const auto& backend : backends) backends_.push_back(backend.get());
}

/// Number of estimated views in scope.
int ViewChecks::estimates() const {
  const std::vector<int> views = run_.plan.views_in_scope();
  return static_cast<int>(std::count_if(views.begin(), views.end(),
                                        [&](int view) { return run_.state(view).estimate.has_value(); }));
}

void ViewChecks::show_progress() {
  const int all = estimates();
  const std::lock_guard lock(mutex_);
  progress_.emplace("check across views", all, progress_style(run_.options.quiet),
                    run_.predicted("check across views", all - checked_, all));
  progress_->skip(checked_);
}

void ViewChecks::check(int view) {
  check_interrupted();
  ViewState& state = run_.state(view);
  const std::string& name = run_.plan.view(view).output_name;
  const std::vector<int> sources = estimated_sources(run_, view);
  StepRecord record;
  record.inputs = check_inputs(run_, view, sources);
  FinishedStep finished = find_finished(run_, Step::kCheck, view, record.inputs);
  reasons_[view] = finished.reason;
  state.check_kept = finished.record.has_value();
  if (state.check_kept) {
    state.check = std::move(finished.record);
    return;
  }
  const auto result = std::make_shared<const ViewDepth>(checked_maps(view, sources));
  run_.geometric->insert(name, result);
  std::vector<WrittenFile> files = write_results(name, *result, record.result);
  results_[view] = Result{std::move(files), std::move(record)};
}

void ViewChecks::commit(int view) {
  if (std::optional<Result> result = std::exchange(results_[view], std::nullopt)) {
    for (WrittenFile& file : result->files) result->record.outputs.push_back(file.commit());
    replace_record(run_.workspace, run_.record_file(Step::kCheck, view), result->record);
    run_.state(view).check = std::move(result->record);
  }
  const std::lock_guard lock(mutex_);
  ++checked_;
  if (progress_) progress_->advance();
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
  ViewDepth result = checked(run_, *maps, agreement(view, reference, others), consistency);
  const Image<std::uint8_t> mask = prepared_mask(run_, view);
  const CheckedMaps checked_view{result.depth.view(), result.normal.view(), result.confidence.view(),
                                 mask.view()};
  fill_holes(checked_view, reference, others,
             {run_.options.hole_reach(run_.job), run_.options.min_reliability(), consistency});
  if (run_.options.swept_by_patches(run_.job))
    remove_islands(checked_view, reference.camera, run_.options.filter.speckle_size);
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

void ViewChecks::release(int view) {
  run_.photometric->release(run_.plan.view(view).output_name);
  if (run_.options.clean) clean_maps(run_, view);
}

void ViewChecks::log_kept() const {
  std::vector<std::pair<std::string, std::string>> redone;
  for (const int view : run_.plan.views_in_scope())
    if (const ViewState& state = run_.state(view); state.estimate && !state.check_kept)
      redone.emplace_back(run_.plan.name(view), reasons_[view]);
  log_resumed("check across views", static_cast<std::size_t>(estimates()) - redone.size(), redone);
}

}  // namespace recon
