#include "scene/depth_range.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scene/tracks.hpp"
#include "scene/view_geometry.hpp"

namespace recon {
namespace {

/// Fewer points seen by a view do not show its range: then all that fall into its image count, of which so
/// many suffice.
constexpr std::size_t kMinSeen = 20, kMinInFront = 8;
/// What a view and its sources may be moved against each other: from half the image down to this many pixels.
constexpr double kMinDisparity = 1.5;
/// Surfaces lie from this to that multiple of the depth at which axes meet.
constexpr double kNearOfCrossing = 1.0 / 3, kFarOfCrossing = 5;
constexpr int kRayGrid = 5, kDepthSamples = 64;
/// Share of the rays that a source has to see at the ends of the range.
constexpr double kMinOverlap = 0.2;

/// Sparse points lie on texture; surfaces go on nearer and further. In inverse depth, in which planes are
/// uniform, the range grows on each side by 40 % of itself, at least by 20 % of the value, and at the far end
/// at most to 2.5 times the depth.
DepthRange widened(double near, double far) {
  const double front = 1 / near, back = 1 / far, span = front - back;
  const double back_margin = std::min(std::max(0.4 * span, 0.2 * back), 0.6 * back);
  return {1 / (front + std::max(0.4 * span, 0.2 * front)), 1 / (back - back_margin)};
}

std::optional<DepthRange> from_depths(std::vector<double>& depths, std::size_t least) {
  if (depths.size() < least) return std::nullopt;
  return widened(quantile(depths, 0.01), quantile(depths, 0.99));
}

/// Depths of the points that the view has seen; where these are few, of all in its image.
std::optional<DepthRange> from_points(const Scene& scene, const ViewGeometry& view,
                                      std::span<const int> seen) {
  std::vector<double> depths;
  for (const int p : seen) {
    const double z = view.depth(scene.points[static_cast<std::size_t>(p)].position);
    if (z > 0 && std::isfinite(z)) depths.push_back(z);
  }
  if (const auto range = from_depths(depths, kMinSeen)) return range;
  depths.clear();
  for (const SparsePoint& point : scene.points) {
    const double z = view.depth(point.position);
    if (z > 0 && view.sees(point.position)) depths.push_back(z);
  }
  return from_depths(depths, kMinInFront);
}

/// Length of the baseline that moves the image of a point on the axis. Of a step along the axis, which moves
/// only what lies off it, a quarter counts.
double effective_baseline(const ViewGeometry& view, const ViewGeometry& source) {
  const Vec3d step = source.centre - view.centre;
  const double along = dot(step, view.axis);
  return std::max(norm(step - along * view.axis), 0.25 * norm(step));
}

/// The part of a range in which the sources see a good share of what the view sees; the range itself if there
/// is none.
DepthRange overlapping(const SceneGeometry& views, const ViewGeometry& view, const std::vector<int>& sources,
                       DepthRange range) {
  const std::vector<Vec3d> rays = view.ray_grid(kRayGrid);
  std::optional<DepthRange> part;
  for (int i = 0; i < kDepthSamples; ++i) {
    const double z =
        range.near * std::pow(range.far / range.near, static_cast<double>(i) / (kDepthSamples - 1));
    const auto visible = std::count_if(rays.begin(), rays.end(), [&](Vec3d ray) {
      const Vec3d x = view.point_at(ray, z);
      return std::any_of(sources.begin(), sources.end(), [&](int s) { return views[s].sees(x); });
    });
    if (static_cast<double>(visible) < kMinOverlap * static_cast<double>(rays.size())) continue;
    part = DepthRange{part ? part->near : z, z};
  }
  return part && part->near < part->far ? *part : range;
}

std::optional<DepthRange> from_geometry(const SceneGeometry& views, int index,
                                        const std::vector<int>& sources) {
  const ViewGeometry& view = views[index];
  std::vector<double> nearest, furthest, crossings;
  for (const int s : sources) {
    const ViewGeometry& source = views[s];
    const double moved = source.focal * effective_baseline(view, source);  // pixels, times depth
    if (!(moved > 0)) continue;
    nearest.push_back(moved / (0.5 * std::max(source.width, source.height)));
    furthest.push_back(moved / kMinDisparity);
    if (const auto depth = axis_crossing(view, source)) crossings.push_back(*depth);
  }
  if (nearest.empty()) return std::nullopt;
  DepthRange range{quantile(nearest, 0.5), quantile(furthest, 1.0)};
  if (2 * crossings.size() >= nearest.size()) {
    const double crossing = quantile(crossings, 0.5);
    range = {kNearOfCrossing * crossing, kFarOfCrossing * crossing};
  }
  return overlapping(views, view, sources, range);
}

void check(const std::optional<double>& depth, const char* option) {
  if (!depth || (std::isfinite(*depth) && *depth > 0)) return;
  std::ostringstream message;
  message << option << " is " << *depth << ", but a depth must be above 0";
  throw UsageError(message.str());
}

void check(const DepthRangeOptions& options) {
  check(options.near, "--depth-min");
  check(options.far, "--depth-max");
  if (!options.near || !options.far || *options.near < *options.far) return;
  std::ostringstream message;
  message << "--depth-min is " << *options.near << " and --depth-max is " << *options.far
          << ", but the first must be below the second";
  throw UsageError(message.str());
}

/// What the user said wins; an estimate that contradicts it gives way.
DepthRange with_flags(DepthRange range, const DepthRangeOptions& options) {
  if (options.near) range = {*options.near, std::max(range.far, 2 * *options.near)};
  if (options.far)
    range = {options.near ? *options.near : std::min(range.near, 0.5 * *options.far), *options.far};
  return range;
}

}  // namespace

std::vector<DepthRange> depth_ranges(const Scene& scene, const std::vector<std::vector<int>>& sources,
                                     const DepthRangeOptions& options) {
  EXPECTS(sources.size() == scene.views.size());
  check(options);
  const SceneGeometry views(scene);
  const Visibility visibility(scene);
  std::vector<DepthRange> ranges(scene.views.size());
  parallel_for(static_cast<int>(scene.views.size()), [&](int v) {
    const auto index = static_cast<std::size_t>(v);
    std::optional<DepthRange> range = from_points(scene, views[v], visibility.points_of_view[v]);
    if (!range) range = from_geometry(views, v, sources[index]);
    ranges[index] = with_flags(range.value_or(kUnknownDepthRange), options);
  });
  return ranges;
}

}  // namespace recon
