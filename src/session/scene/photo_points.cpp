// By what a scene without sparse points chooses its sources: points that its photos share.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/log.hpp"
#include "scene/epipolar_check.hpp"
#include "scene/view_geometry.hpp"
#include "session/products/small_views.hpp"
#include "session/scene/read_scene.hpp"

namespace recon {

namespace {

/// Each view is compared with the nearest ones, which look most like it, and with its first sources, whose
/// baselines fit the depths that the geometry of the cameras lets expect.
constexpr int kNearest = 8;
constexpr std::size_t kFirstSources = 12;
/// A corner has to fit this many other views, where there are more than two.
constexpr int kMinSources = 2;
constexpr double kMinAngleDegrees = 1;
/// Views of as many references are compared at a time as have small images of at most this share of the
/// memory.
constexpr std::size_t kShareOfMemory = 4, kSmallViewBytes = 2 * 400 * 400;

/// The views that one is compared with.
std::set<int> others_of(const SceneGeometry& geometry, const ScenePlan& plan, int view) {
  const std::vector<int> nearest = nearest_views(geometry, view, kNearest);
  const std::vector<int>& sources = plan.view(view).sources;
  std::set<int> others(nearest.begin(), nearest.end());
  others.insert(sources.begin(),
                sources.begin() + static_cast<std::ptrdiff_t>(std::min(kFirstSources, sources.size())));
  return others;
}

/// The pairs of each view with others, in batches with the pairs of whole views, which have at most so many
/// different views where a batch has more than one.
std::vector<ViewPairs> batches_of(const ScenePlan& plan, std::size_t max_views) {
  const SceneGeometry geometry(plan.scene);
  std::vector<ViewPairs> batches;
  std::set<int> in_batch;
  for (int view = 0; view < geometry.size(); ++view) {
    const std::set<int> others = others_of(geometry, plan, view);
    in_batch.insert(others.begin(), others.end());
    in_batch.insert(view);
    if (batches.empty() || in_batch.size() > max_views) {
      batches.emplace_back();
      in_batch = others;
      in_batch.insert(view);
    }
    for (const int other : others) batches.back().emplace_back(view, other);
  }
  return batches;
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

std::vector<SparsePoint> points_of_photos(const Scene& scene, SceneProducts& products,
                                          const HostLimits& host) {
  const ScenePlan& plan = products.plan;
  products.photos.set_budget(host.memory / 8);
  const std::vector<CalibratedView> cameras = small_cameras(plan);
  const int min_sources = std::min(kMinSources, static_cast<int>(photo_count(plan.scene)) - 1);
  std::vector<SparsePoint> points;
  for (const ViewPairs& pairs : batches_of(plan, host.memory / kShareOfMemory / kSmallViewBytes))
    for (SparsePoint& point : triangulate_corners(
             cameras, SmallViews(products, host, SmallViewsOf::kUnprepared).matches(pairs, cameras),
             min_sources, kMinAngleDegrees))
      points.push_back(std::move(point));
  messages().info("no sparse points: {}",
                  points.empty()
                      ? "sources are chosen by the geometry of the cameras"
                      : fmt::format("sources are chosen by {} corners that photos share", points.size()));
  const std::vector<int> indices = scene_indices(scene, plan);
  for (SparsePoint& point : points)
    for (TrackElement& element : point.track) element.view = indices[element.view];
  return points;
}

}  // namespace recon
