#include "session/scene/scene_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/paths.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

namespace {

/// "view00.png, view01.png (their reason), view02.png (its reason) and 4 more": a reason that views have in
/// common stands behind the last of them.
std::string names_text(const std::vector<LeftOut>& views, bool with_reasons) {
  constexpr std::size_t kMaxNamed = 5;
  std::string text;
  const std::size_t named = std::min(kMaxNamed, views.size());
  const std::string more = views.size() > named ? fmt::format(" and {} more", views.size() - named) : "";
  const bool same =
      std::ranges::all_of(views, [&](const LeftOut& view) { return view.reason == views.front().reason; });
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : ", ") + views[i].name;
    const bool last = same ? i + 1 == named : i + 1 == named || views[i + 1].reason != views[i].reason;
    if (same && last) text += more;
    if (with_reasons && last) text += " (" + views[i].reason + ")";
  }
  return same ? text : text + more;
}

/// Warns of the views that have no depth map that can be fused; many become one warning.
/// @param of        all views
/// @param because   what they have in common; empty: each has a reason
/// @param remedy    what to do
void warn_of_missing(const std::vector<LeftOut>& views, std::size_t of, const std::string& because,
                     const std::string& remedy, Findings& findings) {
  if (views.empty()) return;
  if (views.size() == 1)
    findings.warn(views[0].name + " is left out: " + views[0].reason + remedy);
  else
    findings.warn(fmt::format("{} of {} views are left out{}: {}{}", views.size(), of, because,
                              names_text(views, because.empty()), remedy));
}

/// What of a run an earlier one has left: results whose records still hold.
class FinishedWork {
 public:
  explicit FinishedWork(SceneJob& job) : job_(job) {}

  std::vector<int> views_to_estimate() {
    std::vector<int> views = targets_.views_of(Step::kEstimate, plan_);
    parallel_for(static_cast<int>(views.size()), [&](int i) {
      products_.results.find(products_.key(Step::kEstimate, views[i]), inputs_.estimate(views[i]));
    });
    std::vector<int> again = views;  // without a check, the maps themselves are what is asked for
    if (targets_.does(Step::kCheck))
      again = cleaned_but_needed();
    else
      std::erase_if(again, [&](int view) { return !is_cleaned(view); });
    for (const int view : again) {
      products_.results.forget(products_.key(Step::kEstimate, view),
                               {cause("its maps were removed by --clean")});
      const ResultKey check = products_.key(Step::kCheck, view);
      products_.results.forget(check, products_.results.causes(check));  // it may fail this time
    }
    std::erase_if(views, [&](int view) { return products_.result(Step::kEstimate, view) != nullptr; });
    return views;
  }

  /// The work of a run but for finished and unchanged results, which are found as by the run itself.
  SceneWork remaining() {
    SceneWork work = all_work(targets_, plan_);
    std::erase_if(work[Step::kPrepare],
                  [&](int view) { return products_.result(Step::kPrepare, view) != nullptr; });
    if (targets_.does(Step::kEstimate)) work[Step::kEstimate] = views_to_estimate();
    if (find_planes())
      work[Step::kPlanes].clear();
    else
      std::erase_if(work[Step::kPlanes], [&](int view) {
        return !targets_.does(Step::kEstimate) && !products_.result(Step::kEstimate, view);
      });
    // What is estimated now is checked then.
    std::erase_if(work[Step::kCheck], [&](int view) {
      return is_checked(view) ||
             (!targets_.does(Step::kEstimate) && !products_.result(Step::kEstimate, view));
    });
    if (!targets_.does(Step::kFusion) || !work[Step::kCheck].empty()) return work;
    if (!products_.results.find({Step::kFusion}, inputs_.fusion(products_.views_with(Step::kCheck))))
      return work;
    work[Step::kFusion].clear();
    if (targets_.does(Step::kTiles) && products_.results.find({Step::kTiles}, inputs_.tiles()))
      work[Step::kTiles].clear();
    if (targets_.does(Step::kExport) && products_.results.find({Step::kExport}, inputs_.exported()))
      work[Step::kExport].clear();
    return work;
  }

  void collect_estimates() {
    const std::vector<int> views = plan_.views_in_scope();
    parallel_for(static_cast<int>(views.size()), [&](int i) {
      products_.results.find(products_.key(Step::kEstimate, views[i]), inputs_.estimate(views[i]),
                             /*overwrite=*/false);
    });
    refuse_changed(views);
    const std::string first = "; run --stage estimate first", again = "; run --stage estimate again";
    std::vector<LeftOut> without, unusable;
    for (const int view : views) {
      if (products_.result(Step::kEstimate, view) != nullptr) continue;
      const std::string reason = products_.results.reason(products_.key(Step::kEstimate, view));
      (reason.empty() ? without : unusable)
          .push_back({plan_.name(view), reason.empty() ? "it has no depth map yet" : reason});
      findings_.failed.push_back(reason.empty() ? LeftOut{plan_.name(view), without.back().reason + first}
                                                : LeftOut{plan_.name(view), reason + again});
    }
    if (without.size() < views.size())  // else the failure says it
      warn_of_missing(without, views.size(), ", which have no depth map yet", first, findings_);
    warn_of_missing(unusable, views.size(), "", again, findings_);
    if (const std::vector<int> removed = cleaned_but_needed(); !removed.empty())
      throw InputError(
          fmt::format("{}: the maps of {} views that the check needs were removed by --clean; run --stage "
                      "estimate again, or without --stage",
                      products_.workspace.root().string(), removed.size()));
    if (findings_.failed.size() == views.size())
      throw InputError(products_.workspace.root().string() +
                       ": there are no depth maps to fuse; run --stage estimate first");
  }

 private:
  bool is_cleaned(int view) const {
    const StepRecord* const estimate = products_.result(Step::kEstimate, view);
    return estimate != nullptr && estimate->cleaned;
  }

  /// Whether the planes of the scene are found, or none are wanted, for the depth maps that the run has.
  bool find_planes() {
    if (!targets_.does(Step::kPlanes)) return true;
    const std::vector<int> views = products_.views_with(Step::kEstimate);
    if (targets_.does(Step::kEstimate) && views.size() < plan_.views_in_scope().size()) return false;
    return products_.results.find({Step::kPlanes}, inputs_.planes(views)) != nullptr;
  }

  /// Whether the check of a view is finished for the depth maps that the run has. Where it estimates none, a
  /// source without a map takes no part in it.
  bool is_checked(int view) {
    const auto is_estimated = [&](int it) { return products_.result(Step::kEstimate, it) != nullptr; };
    std::vector<int> sources;
    for (const int source : plan_.view(view).sources)
      if (plan_.view(source).in_scope && (targets_.does(Step::kEstimate) || is_estimated(source)))
        sources.push_back(source);
    if (targets_.does(Step::kPlanes) && products_.results.get({Step::kPlanes}) == nullptr) return false;
    return is_estimated(view) && std::ranges::all_of(sources, is_estimated) &&
           products_.results.find(products_.key(Step::kCheck, view), inputs_.check(view, sources)) != nullptr;
  }

  /// The views in scope whose maps --clean has removed, and of which a check has need now.
  std::vector<int> cleaned_but_needed() {
    // Where none are estimated, those without a map are not checked.
    const std::vector<int> views =
        targets_.does(Step::kEstimate) ? plan_.views_in_scope() : products_.views_with(Step::kEstimate);
    if (std::ranges::none_of(views, [&](int view) { return is_cleaned(view); })) return {};
    find_planes();
    std::vector<char> finished(views.size());
    parallel_for(static_cast<int>(views.size()), [&](int i) { finished[i] = is_checked(views[i]) ? 1 : 0; });
    std::set<int> needed;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (finished[i] != 0) continue;
      needed.insert(views[i]);
      for (const int source : plan_.view(views[i]).sources)
        if (plan_.view(source).in_scope) needed.insert(source);
    }
    std::erase_if(needed, [&](int view) { return !is_cleaned(view); });
    return {needed.begin(), needed.end()};
  }

  /// Depth maps of different photos, poses or options do not make one cloud.
  /// @throws InputError that names the views whose depth maps depend on something else than this run
  void refuse_changed(const std::vector<int>& views) const {
    std::vector<LeftOut> changed;
    for (const int view : views) {
      const ResultKey key = products_.key(Step::kEstimate, view);
      if (products_.results.changed(key))
        changed.push_back({plan_.name(view), products_.results.reason(key)});
    }
    if (changed.empty()) return;
    throw InputError(fmt::format(
        "{}: the depth maps of {} of {} views are of other photos, poses or options than this run: {}; give "
        "the options that they were estimated with, or run --stage estimate again",
        products_.workspace.root().string(), changed.size(), views.size(), names_text(changed, true)));
  }

  SceneJob& job_;
  SceneProducts& products_ = job_.products;
  const ScenePlan& plan_ = job_.plan;
  const StepInputs& inputs_ = job_.inputs;
  const Targets& targets_ = job_.targets;
  Findings& findings_ = job_.findings;
};

}  // namespace

std::vector<int> SceneJob::views_to_estimate() {
  return FinishedWork(*this).views_to_estimate();
}

SceneWork SceneJob::remaining_work() {
  if (products.results.overwrites() || !is_folder(products.workspace.path("status")))
    return all_work(targets, plan);
  prepare(false);  // a photo that cannot be used is left out, as the run does
  return FinishedWork(*this).remaining();
}

void SceneJob::collect_estimates() {
  if (targets.does(Step::kEstimate)) return;
  prepare(false);
  FinishedWork(*this).collect_estimates();
}

SceneWork all_work(const Targets& targets, const ScenePlan& plan) {
  SceneWork work;
  for (const Step step : kSceneSteps) work[step] = targets.views_of(step, plan);
  return work;
}

void supersede(const Targets& targets, const SceneProducts& products) {
  for (const auto& [step, views] : all_work(targets, products.plan)) {
    const int records =
        static_cast<int>(is_of_views(step) ? views.size() : std::min<std::size_t>(1, views.size()));
    parallel_for(records, [&, &step = step, &views = views](int i) {
      products.results.supersede(products.key(step, views[i]));
    });
  }
}

SceneWork made(const Targets& targets, const SceneProducts& products) {
  const auto is_made = [&](const ResultKey& key) {
    return products.results.get(key) != nullptr && !products.results.kept(key);
  };
  SceneWork work = all_work(targets, products.plan);
  for (auto& [step, views] : work)
    std::erase_if(views, [&, &step = step](int view) { return !is_made(products.key(step, view)); });
  return work;
}

SceneWork work_done(const Targets& targets, const SceneProducts& products) {
  SceneWork work = made(targets, products);
  const std::vector<int>& estimated = work[Step::kEstimate];
  work[Step::kPrepare] = estimated.size() < products.plan.active_views().size()
                             ? estimated
                             : targets.views_of(Step::kPrepare, products.plan);
  return work;
}

}  // namespace recon
