#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "session/report/report.hpp"
#include "session/scene/output_files.hpp"

namespace recon {

/// Views of a step, in the plan.
static std::string views_text(const SceneJob& job, Step step, const std::vector<int>& views) {
  const std::string& first = job.plan.name(views.front());
  return views.size() == 1 ? fmt::format("{} of {}", step_name(step), first)
                           : fmt::format("{} of {}, such as {}", step_name(step), views.size(), first);
}

/// Why a step is done again.
static std::vector<std::string> stale_lines(const SceneJob& job, Step step, std::vector<int> views) {
  const ResultStore& results = job.products.results;
  std::vector<std::string> lines;
  if (results.overwrites()) {
    std::erase_if(views, [&](int view) { return !results.is_of_before(job.products.key(step, view)); });
    if (!views.empty()) lines.push_back(is_of_views(step) ? views_text(job, step, views) : step_name(step));
  } else if (is_of_views(step)) {
    for (const auto& [cause, stale] : stale_views(job.products, step, views))
      lines.push_back(views_text(job, step, stale) + ": " + cause);
  } else if (!views.empty()) {
    for (const StaleCause& cause : results.causes({step}))
      lines.push_back(fmt::format("{}: {}", step_name(step), cause.text));
  }
  return lines;
}

/// Why all is done again, if it is.
static const char* why_all(const SceneJob& job) {
  if (!job.products.results.overwrites()) return "";
  return job.options.overwrite ? ", as --overwrite is given" : ", as an earlier run with --overwrite ended";
}

std::string stale_text(const SceneJob& job, const SceneWork& work) {
  const auto is_of_before = [&](Step step, int view) {
    return job.products.results.is_of_before(job.products.key(step, view));
  };
  std::vector<std::string> lines, following;
  for (const auto& [step, views] : work) {
    std::vector<std::string> of_step = stale_lines(job, step, views);
    if (of_step.empty() && std::ranges::any_of(views, [&](int view) { return is_of_before(step, view); }))
      following.push_back(step_name(step));
    std::ranges::move(of_step, std::back_inserter(lines));
  }
  if (!lines.empty() && !following.empty())
    lines.push_back(fmt::format("and what follows from them: {}", fmt::join(following, ", ")));
  return lines.empty() ? ""
                       : fmt::format("  in the place of earlier results{}:\n    {}\n", why_all(job),
                                     fmt::join(lines, "\n    "));
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
