#include "session/scene/scene_job.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "core/paths.hpp"
#include "session/scene/exports.hpp"
#include "session/scene/read_scene.hpp"

namespace recon {

SceneJob::SceneJob(const SessionOptions& session_options, SceneFolder folder, Workspace output,
                   HostLimits limits)
    : options(session_options),
      settings(session_options),
      targets(settings),
      host(limits),
      input{std::move(folder), {}, {}, {}, {}, {}},
      overwrite_note(session_options, output.root(), {input.folder.root}),
      products(plan, std::move(output), input.folder.images, settings.matching,
               session_options.overwrite || overwrite_note.is_there()),
      inputs(options.recorded({settings.matching.method, false}), settings, input, products) {}

void SceneJob::read() {
  const std::vector<LeftOut> left_out =
      read_scene(input, settings, products.workspace.root(), host, findings);
  products.photos.set_levels(input.levels);
  replan(left_out);
  if (input.scene.points.empty() && !input.given.any()) {
    input.photo_points = points_of_photos(input.scene, products, host);
    if (!input.photo_points.empty()) replan(plan.left_out);
  }
  if (targets.does(Step::kExport)) check_prior_names(plan, settings.cloud.export_priors);
  if (targets.does(Step::kTiles)) check_tile_size(input.folder.root.string(), plan, settings.cloud);
  for (const std::string& warning : plan.warnings) messages().warn("{}", warning);
  if (const std::string note = plane_limit_note(plan); !note.empty()) messages().info("{}", note);
}

void SceneJob::replan(std::vector<LeftOut> left_out) {
  plan = make_plan(input, std::move(left_out), settings, findings);
}

void SceneJob::collect_estimates() {
  if (targets.does(Step::kEstimate)) return;
  prepare(false);
  FinishedWork(products, inputs, targets).collect_estimates(findings);
}

SceneWork SceneJob::remaining_work() {
  if (products.results.overwrites() || !is_folder(products.workspace.path("status")))
    return all_work(targets, plan);
  prepare(false);  // a photo that cannot be used is left out, as the run does
  return FinishedWork(products, inputs, targets).remaining();
}

double SceneJob::predicted(std::string_view step, int views, int of_all) const {
  for (const auto& [name, seconds] : predicted_steps)
    if (name == step) return std::max(0.0, seconds * views / std::max(1, of_all));
  return 0;
}

}  // namespace recon
