#include "session/plan/plan.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/plain_number.hpp"
#include "core/quantile.hpp"
#include "io/file/text_scanner.hpp"
#include "io/image/image_file.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/depth_range.hpp"
#include "scene/undistort.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

namespace {

/// Views whose depths may contradict those of a view, or agree, in the fusion: where the sources are fewer,
/// others that see most of what it sees.
constexpr int kOverlappingViews = 20;

std::vector<int> views_where(const ScenePlan& plan, bool ViewPlan::*flag) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < plan.views.size(); ++i)
    if (plan.views[i].*flag) indices.push_back(static_cast<int>(i));
  return indices;
}

/// Depth needs photos from different places.
/// @throws InputError when the centres of all cameras are one up to rounding, or seen from the points
void check_baseline(const Scene& scene) {
  constexpr double kRounding = 1e-12, kMinOfDistance = 1e-5;
  const Vec3d first = camera_centre(scene.views.front().cam_from_world);
  double spread = 0, largest = 0;
  for (const View& view : scene.views) {
    const Vec3d centre = camera_centre(view.cam_from_world);
    spread = std::max(spread, norm(centre - first));
    largest = std::max(largest, norm(centre));
  }
  std::vector<double> distances;
  for (const SparsePoint& point : scene.points) distances.push_back(norm(point.position - first));
  const double distance = distances.empty() ? 0 : quantile(distances, 0.5);
  if (spread > std::max(kRounding * largest, kMinOfDistance * distance)) return;
  throw InputError(
      fmt::format("no overlap: there is no baseline, for all {} photos were taken from the same place (their "
                  "cameras are at most {} apart); depth needs photos from different places",
                  photo_count(scene), plain(spread)));
}

/// The longest side of the undistorted image of a view, 0 for any. A side that is given is that of the photo:
/// a face becomes smaller as its photo would.
int max_side_of(const View& view, const Camera& camera, const ImageSizes& images) {
  if (!view.face || images.longest_side == 0) return images.max_side(camera.width, camera.height);
  const Camera& lens = view.face->lens;
  const int side = images.max_side(lens.width, lens.height), photo = std::max(lens.width, lens.height);
  if (side == 0 || side >= photo) return 0;
  constexpr int kMinSide = 16;
  const double scale = static_cast<double>(side) / photo;
  return std::max(kMinSide, static_cast<int>(std::lround(scale * std::max(camera.width, camera.height))));
}

/// Sets the cameras of the undistorted images, computed once for each camera of the scene.
/// @throws InputError for the first view whose image cannot be undistorted
void choose_cameras(const ImageSizes& images, ScenePlan& plan) {
  const std::vector<Camera>& cameras = plan.scene.cameras;
  std::vector<Pinhole> undistorted(cameras.size());
  std::vector<FirstException> faults(cameras.size());  // of cameras that no view may have
  std::vector<const View*> view_of(cameras.size(), nullptr);
  for (const View& view : plan.scene.views) view_of[view.camera] = &view;
  parallel_for(static_cast<int>(cameras.size()), [&](int i) {
    faults[i].guard([&] {
      const Camera& camera = cameras[i];
      if (view_of[i] != nullptr)
        undistorted[i] = undistorted_camera(camera, max_side_of(*view_of[i], camera, images));
    });
  });
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    const View& view = plan.scene.views[i];
    const int camera = view.camera;
    faults[camera].rethrow();
    plan.views[i].camera = undistorted[camera];
    plan.views[i].unchanged =
        is_own_image(cameras[camera], undistorted[camera]) && !view.levelled && !view.face;
  }
}

/// Warns of a bound that leaves out all depths which the sparse points show.
void warn_of_bounds(const std::vector<DepthRange>& expected, const DepthRange& bounds, ScenePlan& plan) {
  std::optional<DepthRange> shown;
  for (const DepthRange& view : expected)
    if (!view.guessed)
      shown = shown ? DepthRange{std::min(shown->near, view.near), std::max(shown->far, view.far)}
                    : DepthRange{view.near, view.far};
  if (!shown) return;
  const auto warn = [&](const char* option, double bound, const char* where) {
    plan.warnings.push_back(
        fmt::format("--{} {}: the sparse points of all views show surfaces at depths from {} to "
                    "{} only, all of them {}; check the bound and its unit, that of the scene",
                    option, plain(bound, 5), plain(shown->near, 5), plain(shown->far, 5), where));
  };
  if (bounds.near >= shown->far) warn("depth-min", bounds.near, "nearer");
  if (bounds.far <= shown->near) warn("depth-max", bounds.far, "further away");
}

/// Sets the source views and the depth ranges of each view.
/// @param given  the sources of each view; empty: they are selected
void choose_sources(const SceneSettings& settings, ScenePlan& plan,
                    const std::vector<std::vector<int>>& given = {}) {
  const SceneIndex index(plan.scene);
  const auto sources = given.empty() ? select_sources(index, settings.plan.selection) : given;
  const auto expected = expected_ranges(index, sources);
  const auto overlapping = overlapping_views(index, expected, kOverlappingViews);
  const DepthRange& bounds = settings.matching.bounds;
  warn_of_bounds(expected, bounds, plan);
  const bool sweep = settings.matching.sweeps();
  parallel_for(static_cast<int>(plan.views.size()), [&](int i) {
    ViewPlan& view = plan.views[i];
    view.sources = sources[i];
    for (const int other : overlapping[i])
      if (std::ssize(view.sources) + std::ssize(view.overlapping) < kOverlappingViews &&
          std::ranges::find(view.sources, other) == view.sources.end())
        view.overlapping.push_back(other);
    view.range = bounded(sweep ? search_range(index, i, sources[i], expected[i]) : expected[i], bounds);
    view.expected = bounded(expected[i], bounds, view.range);
  });
}

/// The sources of each view by the corners that photos share. A view that shares few has further ones by the
/// geometry of the cameras.
/// @param scene  with the corners as points
std::vector<std::vector<int>> sources_by_corners(const Scene& scene, const Scene& bare,
                                                 const ViewSelectionOptions& options) {
  constexpr std::size_t kFewSources = 6;
  auto sources = select_sources(SceneIndex(scene), options);
  const auto by_geometry = select_sources(SceneIndex(bare), options);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() >= kFewSources) continue;
    for (const int view : by_geometry[i])
      if (std::ssize(sources[i]) < options.max_sources &&
          std::ranges::find(sources[i], view) == sources[i].end())
        sources[i].push_back(view);
  }
  return sources;
}

/// The name under which the undistorted image is written: its own where we can write its format.
std::string output_name(const std::string& name, bool unchanged) {
  const std::string extension = lower_extension(name);
  const bool writable = extension == ".png" || extension == ".jpg" || extension == ".jpeg";
  return unchanged || writable ? name : name + ".png";
}

/// Gives every view a file name of its own: one that is converted may not take that of another photo.
void choose_output_names(ScenePlan& plan) {
  std::set<std::string> taken;
  for (const View& view : plan.scene.views) taken.insert(view.name);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    const std::string& name = plan.scene.views[i].name;
    std::string& output = plan.views[i].output_name;
    output = output_name(name, plan.views[i].unchanged);
    for (int n = 1; output != name && !taken.insert(output).second; ++n)
      output = name + "." + std::to_string(n) + ".png";
  }
}

/// The positions of all photos of a scene by name, also of the unusable ones.
std::map<std::string, std::size_t> indices_by_name(const Scene& scene) {
  std::map<std::string, std::size_t> indices;
  for (const View& view : scene.views) indices[view.photo_name()];
  for (const LeftOut& view : scene.unusable) indices[view.name];
  std::size_t next = 0;
  for (auto& [name, index] : indices) index = next++;
  return indices;
}

/// Sets in_scope, active and needed. The shard counts the photos of the whole scene, so that all shards agree
/// on it whatever photo one of them cannot read.
void choose_views(const Scene& whole, const SceneSettings& settings, const HasMap& has_map, ScenePlan& plan) {
  const std::string& pattern = settings.plan.views;
  const Shard& shard = settings.plan.shard;
  const std::map<std::string, std::size_t> index_of_name = indices_by_name(whole);
  const bool sweep = settings.matching.sweeps();
  bool any_match = false;
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    ViewPlan& view = plan.views[i];
    const std::string& name = plan.scene.views[i].name;
    const std::string& photo = plan.scene.views[i].photo_name();
    const bool matches =
        fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || fnmatch(pattern.c_str(), photo.c_str(), 0) == 0;
    any_match |= matches;
    const bool chosen = matches && has_map(name);
    const bool usable = sweep ? !view.sources.empty() : !view.pairs.empty();
    if (chosen && view.sources.empty())
      plan.warnings.push_back(name +
                              ": no other view overlaps with it enough; it gets no depth map: check its "
                              "pose, or widen --min-angle and --max-angle");
    view.in_scope = chosen && usable;
    view.active = view.in_scope && static_cast<int>(index_of_name.at(photo) %
                                                    static_cast<std::size_t>(shard.count)) == shard.index - 1;
    view.needed |= view.in_scope;
    if (view.in_scope)
      for (const int source : view.sources) plan.views[source].needed = true;
  }
  if (any_match) return;
  const bool begins =
      std::ranges::any_of(plan.scene.views, [&](const View& view) { return view.name.starts_with(pattern); });
  throw InputError(fmt::format("--views '{}' matches none of the {} views; names look like {}{}", pattern,
                               plan.views.size(), plan.name(0),
                               begins ? ", and a pattern like '" + pattern + "*'" : ""));
}

/// A cloud needs views that overlap.
/// @throws InputError when every view in scope is without a source that it could be checked against
void check_overlap_in_scope(const PlanSettings& settings, const ScenePlan& plan) {
  const std::vector<int> scope = plan.views_in_scope();
  const auto has_source_in_scope = [&](int view) {
    const std::vector<int>& sources = plan.view(view).sources;
    return std::ranges::any_of(sources, [&](int source) { return plan.view(source).in_scope; });
  };
  if (std::ranges::any_of(scope, has_source_in_scope)) return;
  const int first = scope.front();
  const std::string& name = plan.name(first);
  const std::string& source = plan.name(plan.view(first).sources.front());
  if (!settings.views_given)
    throw InputError(
        fmt::format("only {} of {} views can have a depth map, such as {}, and none of their source views, "
                    "such as {}, is among them: depths are checked across views; add photos that overlap, or "
                    "give --stage estimate for depth maps alone",
                    scope.size(), plan.views.size(), name, source));
  const bool one = scope.size() == 1;
  throw InputError(fmt::format(
      "--views '{}' matches {}, without any of {} source views, such as {}: depths are checked across views; "
      "match some of these too, or give --stage estimate for depth maps alone",
      settings.views, one ? name + " alone" : fmt::format("{} views, such as {}", scope.size(), name),
      one ? "its" : "their", source));
}

}  // namespace

std::vector<int> ViewPlan::matched_views() const {
  if (pairs.empty()) return sources;
  std::vector<int> views;
  for (const ViewPair& it : pairs) views.push_back(it.source);
  return views;
}

std::vector<int> ScenePlan::all_views() const {
  std::vector<int> all(views.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> ScenePlan::active_views() const {
  return views_where(*this, &ViewPlan::active);
}

std::vector<int> ScenePlan::needed_views() const {
  return views_where(*this, &ViewPlan::needed);
}

std::vector<int> ScenePlan::views_in_scope() const {
  return views_where(*this, &ViewPlan::in_scope);
}

std::map<std::string, std::vector<int>> ScenePlan::by_photo(const std::vector<int>& some) const {
  std::map<std::string, std::vector<int>> photos;
  for (const int view : some) photos[scene_view(view).photo_name()].push_back(view);
  return photos;
}

std::size_t photo_count(const Scene& scene) {
  std::set<std::string> photos;
  for (const View& view : scene.views) photos.insert(view.photo_name());
  return photos.size();
}

std::vector<std::vector<int>> ScenePlan::overlaps() const {
  std::vector<std::vector<int>> result(views.size());
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const int source : views[i].sources) {
      result[i].push_back(source);
      result[source].push_back(static_cast<int>(i));
    }
  for (std::size_t i = 0; i < views.size(); ++i)
    result[i].insert(result[i].end(), views[i].overlapping.begin(), views[i].overlapping.end());
  for (std::vector<int>& others : result) {
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
  }
  return result;
}

std::string plane_limit_note(const ScenePlan& plan) {
  int limited = 0, most = 0;
  for (const ViewPlan& view : plan.views) {
    if (view.wanted_planes <= view.planes) continue;
    ++limited;
    most = std::max(most, view.wanted_planes);
  }
  if (limited == 0) return {};
  return fmt::format(
      "--planes auto is limited to {}: planes a pixel apart would be up to {} in {} view{}; --planes N "
      "sweeps more",
      kMaxAutoPlanes, most, limited, limited == 1 ? "" : "s");
}

Scene keep_views(const Scene& scene, const std::vector<int>& kept) {
  if (kept.size() == scene.views.size()) return scene;
  Scene result;
  result.camera_ids = scene.camera_ids;
  result.cameras = scene.cameras;
  std::vector<int> new_index(scene.views.size(), -1);
  for (const int view : kept) {
    new_index[view] = static_cast<int>(result.views.size());
    result.views.push_back(scene.views[view]);
  }
  result.points = scene.points;
  for (SparsePoint& point : result.points.edit()) {
    for (TrackElement& element : point.track) element.view = new_index[element.view];
    std::erase_if(point.track, [](const TrackElement& element) { return element.view < 0; });
  }
  return result;
}

ScenePlan make_plan(const Scene& scene, const std::vector<LeftOut>& left_out, const SceneSettings& settings,
                    const HasMap& has_map, const std::vector<SparsePoint>& corners) {
  std::vector<int> kept;
  for (std::size_t i = 0; i < scene.views.size(); ++i)
    if (!is_left_out(left_out, scene.views[i].photo_name())) kept.push_back(static_cast<int>(i));
  ScenePlan plan;
  plan.scene = keep_views(scene, kept);
  plan.left_out = left_out;
  const std::size_t count = plan.scene.views.size();
  if (const std::size_t photos = photo_count(plan.scene); photos < 2)
    throw InputError(
        fmt::format("too few views: {} of {} can be used, and depth needs at least 2{}", photos,
                    photo_count(scene) + scene.unusable.size(),
                    left_out.empty() ? "" : "; left out is, for one, " + left_out.front().reason));

  check_baseline(plan.scene);
  plan.views.resize(count);
  if (corners.empty()) {
    choose_sources(settings, plan);
  } else {
    Scene with_corners = scene;
    with_corners.points.edit() = corners;
    choose_sources(settings, plan,
                   sources_by_corners(keep_views(with_corners, kept), plan.scene, settings.plan.selection));
  }
  choose_cameras(settings.plan.images, plan);
  choose_output_names(plan);
  const bool sweep = settings.matching.sweeps();
  if (!sweep) choose_pairs(settings.matching, plan);
  choose_views(scene, settings, has_map, plan);
  if (plan.views_in_scope().empty())
    throw InputError(
        fmt::format("no overlap: no view has another one that sees the same surface under a useful angle ({} "
                    "views); check the poses, or widen --min-angle and --max-angle{}",
                    count, !settings.plan.given_maps ? "" : ", or give maps of the views in --views"));
  if (settings.plan.checks) check_overlap_in_scope(settings.plan, plan);
  if (!sweep || settings.plan.given_maps) return plan;
  const std::vector<int> active = plan.active_views();
  parallel_for(static_cast<int>(active.size()),
               [&](int i) { choose_planes(settings.matching, active[i], plan); });
  return plan;
}

void resize_images(const ImageSizes& images, const MatchingSettings& matching, ScenePlan& plan) {
  choose_cameras(images, plan);
  if (!matching.sweeps()) return choose_pairs(matching, plan);
  for (const int view : plan.active_views()) choose_planes(matching, view, plan);
}

ScenePlan plan_given_views(Scene scene, const std::vector<std::vector<int>>& sources,
                           const std::vector<int>& swept, const SceneSettings& settings) {
  ScenePlan plan;
  plan.scene = std::move(scene);
  check_baseline(plan.scene);
  plan.views.resize(plan.scene.views.size());
  choose_sources(settings, plan, sources);
  for (std::size_t i = 0; i < plan.views.size(); ++i)
    plan.views[i].camera = as_pinhole(plan.scene.cameras[plan.scene.views[i].camera]).value();
  for (const int view : swept) choose_planes(settings.matching, view, plan);
  return plan;
}

}  // namespace recon
