#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "fuse/consistency.hpp"
#include "io/image_file.hpp"
#include "io/map_files.hpp"
#include "session/background_work.hpp"
#include "session/resume/step_inputs.hpp"
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

/// `maps` where enough sources agree. The sources are asked one after the other, so that only one is in
/// memory.
ViewDepth checked(SceneRun& run, int view, const ViewDepth& maps, const std::vector<int>& sources) {
  ConsistencyOptions options = run.options.consistency;
  // A scene of few views cannot ask for more than it has.
  const int wanted = std::min(options.min_views, std::max(1, static_cast<int>(sources.size())));
  options.min_views = 1;
  const DepthView reference = depth_view(run, view, maps);
  const int width = maps.depth.width(), height = maps.depth.height();
  Image<std::uint8_t> agreeing(width, height, 0);
  for (const int source : sources) {
    const auto source_maps = run.photometric->get(run.plan.view(source).output_name);
    const Image<float> agreed = consistent_depth(reference, {depth_view(run, source, *source_maps)}, options);
    parallel_for(height, [&](int y) {
      for (int x = 0; x < width; ++x)
        if (!std::isnan(agreed(x, y))) ++agreeing(x, y);
    });
  }
  ViewDepth result{Image<float>(width, height), Image<Vec3f>(width, height), Image<float>(width, height)};
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      const bool keep = agreeing(x, y) >= wanted;
      result.depth(x, y) = keep ? maps.depth(x, y) : kUnknown;
      result.normal(x, y) = keep ? maps.normal(x, y) : Vec3f{kUnknown, kUnknown, kUnknown};
      result.confidence(x, y) = keep ? maps.confidence(x, y) : kUnknown;
    }
  });
  return result;
}

/// What came of one view: its record, or why it failed.
struct Checked {
  std::optional<StepRecord> record;
  bool kept = false;
  std::string reason;
};

Checked check_view(SceneRun& run, int view) {
  const std::string& name = run.plan.view(view).output_name;
  const std::vector<int> sources = estimated_sources(run, view);
  StepRecord record;
  record.inputs = check_inputs(run, view, sources);
  const std::string record_file = Workspace::record_file(Step::kCheck, name);
  FinishedStep finished = find_finished(run, record_file, record.inputs);
  if (finished.record) return {std::move(finished.record), true, {}};

  const auto maps = run.photometric->get(name);
  const auto result = std::make_shared<const ViewDepth>(checked(run, view, *maps, sources));
  run.geometric->insert(name, result);
  record.outputs = run.geometric->write(name, *result);
  const std::string preview = Workspace::preview_file(name);
  record.outputs.push_back(
      {preview, write_image(run.workspace.path(preview), depth_preview(result->depth.view()).view())});
  record.result = {{"known", known_share(result->depth)}};
  write_record(run.workspace.path(record_file), record);
  return {std::move(record), false, finished.reason};
}

}  // namespace

void check_views(SceneRun& run) {
  std::vector<int> views;
  for (const int view : run.plan.views_in_scope())
    if (run.state(view).estimate) views.push_back(view);
  std::vector<Checked> results(views.size());
  Progress progress("check across views", static_cast<int>(views.size()), progress_style(run.options.quiet));
  bounded_parallel_for(static_cast<int>(views.size()), run.memory.check_at_once, [&](int i) {
    check_interrupted();
    const auto index = static_cast<std::size_t>(i);
    results[index] = check_view(run, views[index]);
    progress.advance();
  });
  std::vector<std::pair<std::string, std::string>> redone;
  for (std::size_t i = 0; i < views.size(); ++i) {
    run.state(views[i]).check = std::move(results[i].record);
    run.state(views[i]).check_kept = results[i].kept;
    if (!results[i].kept) redone.emplace_back(run.plan.name(views[i]), results[i].reason);
  }
  log_resumed("check across views", views.size() - redone.size(), redone);
}

}  // namespace recon
