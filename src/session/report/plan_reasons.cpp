#include "session/report/plan_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "session/scene/output_files.hpp"

namespace recon {

std::string stale_text(const SceneJob& job, const SceneWork& work) {
  std::vector<std::string> lines;
  for (const auto& [step, views] : work) {
    if (!is_of_views(step) && !views.empty()) {
      for (const StaleCause& cause : job.products.results.causes({step}))
        lines.push_back(fmt::format("{}: {}", step_name(step), cause.text));
      continue;
    }
    for (const auto& [cause, stale] : stale_views(job.products, step, views)) {
      const std::string& first = job.plan.name(stale.front());
      lines.push_back(stale.size() == 1 ? fmt::format("{} of {}: {}", step_name(step), first, cause)
                                        : fmt::format("{} of {}, such as {}: {}", step_name(step),
                                                      stale.size(), first, cause));
    }
  }
  return lines.empty()
             ? ""
             : fmt::format("  in the place of earlier results:\n    {}\n", fmt::join(lines, "\n    "));
}

std::vector<std::string> removed_texts(const SceneJob& job, const SceneWork& work) {
  std::vector<std::string> texts = removals(job.output(), job.input);
  if (!job.settings.check.clean || !job.targets.does(Step::kCheck)) return texts;
  const auto estimated = work.find(Step::kEstimate);
  const auto is_removed = [&](int view) {
    const StepRecord* const maps = job.products.result(Step::kEstimate, view);
    return maps != nullptr ? !maps->cleaned
                           : estimated != work.end() && std::ranges::count(estimated->second, view) > 0;
  };
  if (const auto views = std::ranges::count_if(job.plan.views_in_scope(), is_removed); views > 0)
    texts.push_back(fmt::format("the depth maps of {} view{} before the check, {}, as --clean is given",
                                views, views == 1 ? "" : "s",
                                job.products.workspace.path("stereo/depth_maps/*.photometric.*").string()));
  return texts;
}

}  // namespace recon
