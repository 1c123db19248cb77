// What guides the plan of a scene without sparse points: points that its photos share.

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/log.hpp"
#include "scene/corner_points.hpp"
#include "scene/view_geometry.hpp"
#include "session/scene/scene_run.hpp"
#include "session/scene/small_views.hpp"

namespace recon {

namespace {

/// Each view is compared with the nearest ones, which look most like it, and with its first sources, whose
/// baselines fit the depths that the geometry of the cameras lets expect.
constexpr int kNearest = 8;
constexpr std::size_t kFirstSources = 12;
/// A corner has to fit this many other views, where there are more than two.
constexpr int kMinSources = 2;
constexpr double kMinAngleDegrees = 1;
/// Max share of the memory for small images, and their bytes a view.
constexpr std::size_t kShareOfMemory = 4, kSmallViewBytes = 400 * 400;

ViewPairs pairs_of(const ScenePlan& plan, const std::vector<int>& views) {
  const SceneGeometry geometry(plan.scene);
  ViewPairs pairs;
  for (const int view : views) {
    const std::vector<int> nearest = nearest_views(geometry, view, kNearest);
    const std::vector<int>& sources = plan.view(view).sources;
    std::set<int> others(nearest.begin(), nearest.end());
    others.insert(sources.begin(),
                  sources.begin() + static_cast<std::ptrdiff_t>(std::min(kFirstSources, sources.size())));
    for (const int other : others) pairs.emplace_back(view, other);
  }
  return pairs;
}

/// The index in the scene of each view of the plan, both sorted by name.
std::vector<int> scene_indices(const Scene& scene, const ScenePlan& plan) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < scene.views.size() && indices.size() < plan.views.size(); ++i)
    if (scene.views[i].name == plan.name(static_cast<int>(indices.size())))
      indices.push_back(static_cast<int>(i));
  return indices;
}

}  // namespace

std::vector<SparsePoint> points_of_photos(SceneRun& run) {
  const std::vector<int> views = run.plan.needed_views();
  if (views.size() > run.memory.limit / kShareOfMemory / kSmallViewBytes) return {};
  run.photos.set_budget(run.memory.limit / 8);
  SmallViews small(run, false);
  const std::vector<CalibratedView> cameras = small_cameras(run);
  const int min_sources = std::min(kMinSources, static_cast<int>(run.plan.views.size()) - 1);
  std::vector<SparsePoint> points = triangulate_corners(
      cameras, small.matches(pairs_of(run.plan, views), cameras), min_sources, kMinAngleDegrees);
  messages().info("no sparse points: sources and depths are chosen by {} corners that photos share",
                  points.size());
  const std::vector<int> indices = scene_indices(run.scene, run.plan);
  for (SparsePoint& point : points)
    for (TrackElement& element : point.track) element.view = indices[element.view];
  return points;
}

}  // namespace recon
