#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "methods/sweep/depth_search.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/rectification.hpp"
#include "session/plan/plan.hpp"

namespace recon {

namespace {

/// Fewer planes of a coarse sweep do not separate surfaces.
constexpr int kMinCoarsePlanes = 32;

SweepImages posed_views(const ScenePlan& plan, int view, int channels) {
  SweepImages images{posed_view(plan, view, channels), {}};
  for (const int source : plan.view(view).sources)
    images.sources.push_back(posed_view(plan, source, channels));
  return images;
}

int patch_levels(const ScenePlan& plan, int view, const MatchingSettings& matching) {
  int side = std::min(plan.view(view).camera.width, plan.view(view).camera.height);
  for (const int source : plan.view(view).sources)
    side = std::min({side, plan.view(source).camera.width, plan.view(source).camera.height});
  return patch_levels(side, matching);
}

}  // namespace

int patch_levels(int side, const MatchingSettings& matching) {
  constexpr int kMinSide = 160;
  int levels = 0;
  for (; levels < matching.spec.patch_match.levels && side / 2 >= kMinSide; ++levels) side /= 2;
  return levels;
}

void choose_planes(const MatchingSettings& matching, int index, ScenePlan& plan) {
  ViewPlan& view = plan.views[index];
  if (matching.patches()) view.levels = patch_levels(plan, index, matching);
  view.wanted_planes = wanted_planes(plan, index, view.range, matching);
  view.planes = matching.planes ? *matching.planes : std::min(view.wanted_planes, kMaxAutoPlanes);
}

int wanted_planes(const ScenePlan& plan, int view, const DepthRange& range,
                  const MatchingSettings& matching) {
  if (matching.planes) return *matching.planes;
  const auto [reference, sources] = posed_views(plan, view, 1);
  const int planes = auto_plane_count(reference, sources, range.near, range.far);
  if (!matching.patches()) return planes;
  // More would not make a better beginning.
  return std::clamp(planes >> plan.view(view).levels, kMinCoarsePlanes, kMaxAutoPlanes);
}

PosedImage posed_view(const ScenePlan& plan, int view, int channels) {
  return {plan.view(view).camera, plan.scene_view(view).cam_from_world, channels, {}};
}

SweepProblem sweep_problem(const ScenePlan& plan, int view, const MatchingSettings& matching) {
  const ViewPlan& it = plan.view(view);
  SweepProblem problem{matching.spec,
                       posed_views(plan, view, matching.colour ? 3 : 1),
                       make_plane_set(it.range.near, it.range.far, it.planes),
                       {}};
  if (matching.bounds.near > kAnyDepth.near)
    problem.bounds.max = static_cast<float>(1 / matching.bounds.near);
  if (matching.bounds.far < kAnyDepth.far) problem.bounds.min = static_cast<float>(1 / matching.bounds.far);
  if (!matching.patches()) return problem;
  problem.patch_match.levels = it.levels;
  halve_images(problem);  // there are no pixels yet
  return problem;
}

std::optional<DepthRange> narrow_planes(const SearchDepths& search, const ScenePlan& plan, int view,
                                        const MatchingSettings& matching, SweepProblem& problem) {
  const ViewPlan& it = plan.view(view);
  if (it.range.near == it.expected.near && it.range.far == it.expected.far) return std::nullopt;
  const DepthRange range = narrowed_range(it.range, it.expected, search(problem));
  const int planes = std::min(it.planes, wanted_planes(plan, view, range, matching));
  problem.planes = make_plane_set(range.near, range.far, planes);
  return range;
}

std::optional<DepthRange> narrow_planes(Backend& backend, const ScenePlan& plan, int view,
                                        const MatchingSettings& matching, SweepProblem& problem) {
  const auto search = [&](const SweepProblem& sweep) { return found_range(backend, sweep); };
  return narrow_planes(search, plan, view, matching, problem);
}

std::string reduced_images_text(const ScenePlan& plan, const ImageSizes& images) {
  if (images.longest_side > 0) return {};
  const auto is_reduced = [&](int view) {
    const Camera& camera = plan.scene.cameras[plan.scene_view(view).camera];
    const int side = images.max_side(camera.width, camera.height);
    return side > 0 && side < std::max(camera.width, camera.height);
  };
  const auto reduced = std::ranges::count_if(plan.needed_views(), is_reduced);
  if (reduced == 0) return {};
  const bool one = reduced == 1;
  const std::string count = fmt::format("{} image{} reduced to ", reduced, one ? " is" : "s are");
  if (!images.halved)
    return count + fmt::format("{} pixels; --quality high keeps {} size", images.most, one ? "its" : "their");
  const auto is_large = [&](int view) {
    const Camera& camera = plan.scene.cameras[plan.scene_view(view).camera];
    return std::max(camera.width, camera.height) > images.most;
  };
  const bool limited = images.most > 0 && std::ranges::any_of(plan.needed_views(), is_large);
  const std::string most = limited ? fmt::format(", {} pixels at most", images.max_side(images.most, 1)) : "";
  return count + "half of " + (one ? "its" : "their") + " size" + most + "; --quality normal keeps more";
}

namespace {

/// Rectifies `view` with its sources, in their order.
/// @param refusal  set where there is no pair: why the first source cannot be rectified
std::vector<ViewPair> plan_pairs(const ScenePlan& plan, int view, const RectifyLimits& limits,
                                 std::string& refusal) {
  const ViewPlan& it = plan.view(view);
  std::vector<ViewPair> pairs;
  for (const int source : it.sources) {
    const Rectification result =
        rectify(it.camera, plan.scene_view(view).cam_from_world, plan.view(source).camera,
                plan.scene_view(source).cam_from_world, it.range, limits);
    if (result.pair)
      pairs.push_back({source, *result.pair});
    else if (refusal.empty())
      refusal = plan.name(source) + ": " + result.refusal;
  }
  return pairs;
}

}  // namespace

void choose_pairs(const MatchingSettings& matching, ScenePlan& plan) {
  const RectifyLimits limits = pair_limits(matching.spec);
  std::vector<std::string> refusals(plan.views.size());
  parallel_for(static_cast<int>(plan.views.size()),
               [&](int i) { plan.views[i].pairs = plan_pairs(plan, i, limits, refusals[i]); });
  const auto has_pair = [](const ViewPlan& view) { return !view.pairs.empty(); };
  const bool none = std::ranges::none_of(plan.views, has_pair);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    if (has_pair(plan.views[i]) || refusals[i].empty()) continue;
    const std::string& name = plan.scene.views[i].name;
    if (none)
      throw InputError("no two views make a rectified pair, such as " + name + " with " + refusals[i] +
                       "; --method planesweep takes views anywhere");
    plan.warnings.push_back(name + ": it makes no rectified pair with any other view (" + refusals[i] +
                            "); it gets no depth map: --method planesweep takes views anywhere");
  }
}

PairDepthOptions pair_depth_options(const MatchingSettings& matching) {
  PairDepthOptions result;
  result.matching = matching.spec;
  result.speckle_size = matching.filter.speckle_size;
  result.median = matching.filter.median;
  return result;
}

}  // namespace recon
