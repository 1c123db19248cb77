// What is said of the maps of --depth-maps before they are fused.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "scene/sparse_index.hpp"
#include "session/scene/given_depths.hpp"
#include "session/scene/given_maps.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

namespace {

/// Maps of less than this part of the side of their image repeat pixels.
constexpr double kFewerPixels = 0.9;

/// Text about a map with fewer pixels than the image of its view.
std::string smaller_map_text(const SceneRun& run, int view, ImageSize map) {
  const Pinhole& camera = run.plan.view(view).camera;
  if (map.width >= kFewerPixels * camera.width) return {};
  const Camera& photo = run.plan.photo_camera(view);
  int side = std::max(map.width, map.height);
  if (run.plan.scene_view(view).face) {  // the size is that of the photo
    int photo_side = std::max(photo.width, photo.height);
    if (const int max = run.options.max_side(photo.width, photo.height); max > 0)
      photo_side = std::min(photo_side, max);
    side = static_cast<int>(std::lround(static_cast<double>(photo_side) * map.width / camera.width));
  }
  return fmt::format(
      "such as {} for {}, whose image has {}: a value that is taken for several pixels is no "
      "surface, and most points are wrong; give --max-image-size {}",
      size_text(map.width, map.height), run.plan.name(view), size_text(camera.width, camera.height), side);
}

/// The places of the points that each of some views sees.
std::vector<std::vector<Vec3d>> points_seen(const Scene& scene, const std::vector<int>& views) {
  const IndexLists points = points_of_views(scene, views);
  std::vector<std::vector<Vec3d>> seen(views.size());
  for (std::size_t i = 0; i < views.size(); ++i)
    for (const int point : points[static_cast<int>(i)]) seen[i].push_back(scene.points[point].position);
  return seen;
}

/// @param smaller  text of smaller_map_text, which may be empty
void warn_of_smaller(SceneRun& run, const std::string& smaller) {
  if (!smaller.empty())
    run.warn(fmt::format("--depth-maps {}: the maps have fewer pixels than the images, {}",
                         run.options.depth_maps.string(), smaller));
}

}  // namespace

void check_given_maps(SceneRun& run) {
  if (!run.given.any()) return;
  std::string smaller;
  const auto read = [&](int view) {
    Image<float> map = run.given.read_depth(run.plan, view);
    if (smaller.empty()) smaller = smaller_map_text(run, view, {map.width(), map.height()});
    return map;
  };
  const MapDoubts doubts = doubts_of(
      {run.plan, run.views_of(Step::kEstimate), [&](int view) { return run.given.has(run.plan.name(view)); },
       read, [&](const std::vector<int>& views) { return points_seen(run.plan.scene, views); },
       "the sparse points of " + run.folder.model.string(),
       [&](double scale) {
         return fmt::format("give --depth-unit {:.4g}", run.options.depth_unit.value_or(1) / scale);
       }});
  warn_of_smaller(run, smaller);
  const std::string prefix = "--depth-maps " + run.options.depth_maps.string() + ": ";
  if (doubts.useless) throw InputError(prefix + fmt::format("{}", fmt::join(doubts.texts, "; ")));
  for (const std::string& text : doubts.texts) run.warn(prefix + text);
}

void check_given_headers(SceneRun& run) {
  if (!run.given.any()) return;
  const std::vector<int> views = run.views_of(Step::kEstimate);
  std::string smaller;
  for (const int view : views) {
    const std::string& name = run.plan.name(view);
    const std::string fault = run.given.fault(run.plan, view);
    if (!fault.empty()) {
      run.failed.push_back({name, fault});
      run.warn(name + " will fail: " + fault);
    } else if (smaller.empty()) {
      smaller = smaller_map_text(run, view, run.given.depth_size(name));
    }
  }
  if (!views.empty() && run.failed.size() == views.size()) throw InputError(no_usable_maps(run));
  warn_of_smaller(run, smaller);
}

std::string no_usable_maps(const SceneRun& run) {
  return fmt::format("{}: none of the given depth maps can be used: {} failed: {}",
                     run.workspace.root().string(), run.failed.front().name, run.failed.front().reason);
}

}  // namespace recon
