#include "scene/depth_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "scene/view_geometry.hpp"

namespace recon {
namespace {

/// Min number of points observed by a view for its range; below it, all points that project into its image
/// are used, at least kMinInImage.
constexpr std::size_t kMinSeen = 100, kMinInImage = 8;
/// Grid cells per side of the image for weighting points by area. Cells with fewer points than kMinInCell
/// have lower weight: their points may be wrong.
constexpr int kCells = 8;
constexpr int kMinInCell = 3;
/// A point is supported, and counts, if this many others in its cell and those around it have a depth within
/// this ratio: wrong points lie alone.
constexpr int kMinSupport = 2;
constexpr double kSupportRatio = 1.1;
/// Min disparity between a view and its sources, pixels; the max is half the image.
constexpr double kMinDisparity = 1.5;
/// Near and far depth of surfaces as multiples of the viewing distance (see viewing_distances).
constexpr double kNearOfDistance = 1.0 / 3, kFarOfDistance = 5;
constexpr int kRayGrid = 5, kDepthSamples = 64;
/// Min share of the rays that the sources see at the ends of the range.
constexpr double kMinOverlap = 0.2;
/// Near end of the depths to search as a multiple of the expected one.
constexpr double kNearOfExpected = 0.5;

/// Depths of points that count; those of planes have to be finite floats, as do their inverses.
constexpr double kMinDepth = 1e-30, kMaxDepth = 1e29;

struct Sample {
  double depth;
  int cell;  ///< of the image
};

/// Depth and grid cell of a point in the image of a view; empty outside it, also where its image is no
/// number.
std::optional<Sample> sample_of(const ViewGeometry& view, Vec3d x) {
  const Vec3d in_cam = view.cam_from_world * x;
  const std::optional<Vec2d> p = view.lens->project(in_cam);
  const bool inside = p && p->x >= 0 && p->y >= 0 && p->x <= view.width && p->y <= view.height;
  if (!inside || !(in_cam.z >= kMinDepth && in_cam.z <= kMaxDepth)) return std::nullopt;
  const int column = std::min(static_cast<int>(p->x * kCells / view.width), kCells - 1);
  const int row = std::min(static_cast<int>(p->y * kCells / view.height), kCells - 1);
  return Sample{in_cam.z, row * kCells + column};
}

/// The samples that are supported by others; all if these are fewer than `least`.
std::vector<Sample> supported(std::vector<Sample> by_depth, std::size_t least) {
  std::array<std::vector<double>, kCells * kCells> depths;
  for (const Sample& s : by_depth) depths[s.cell].push_back(s.depth);
  const auto count_near = [&](double depth, int at) {
    const std::vector<double>& cell = depths[at];
    return std::upper_bound(cell.begin(), cell.end(), depth * kSupportRatio) -
           std::lower_bound(cell.begin(), cell.end(), depth / kSupportRatio);
  };
  const auto is_supported = [&](const Sample& sample) {
    const int column = sample.cell % kCells, row = sample.cell / kCells;
    std::ptrdiff_t others = count_near(sample.depth, sample.cell) - 1;  // mostly enough
    for (int j = std::max(row - 1, 0); j <= std::min(row + 1, kCells - 1); ++j)
      for (int i = std::max(column - 1, 0); i <= std::min(column + 1, kCells - 1); ++i)
        if (const int cell = j * kCells + i; others < kMinSupport && cell != sample.cell)
          others += count_near(sample.depth, cell);
    return others >= kMinSupport;
  };
  std::vector<Sample> result;
  for (const Sample& s : by_depth)
    if (is_supported(s)) result.push_back(s);
  return result.size() < least ? by_depth : result;
}

/// The weighted quantiles of the depth at `fraction` and 1 - `fraction`.
DepthRange inner_range(const std::vector<Sample>& by_depth, const std::vector<double>& weights,
                       double fraction) {
  double total = 0, before = 0;
  for (const double w : weights) total += w;
  DepthRange range{by_depth.front().depth, by_depth.back().depth};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (before <= fraction * total) range.near = by_depth[i].depth;
    before += weights[i];
    if (before >= (1 - fraction) * total) {
      range.far = by_depth[i].depth;
      break;
    }
  }
  return range;
}

/// The range of the points, widened, since points lie on texture only and surfaces extend beyond them. The
/// span between the 1 and 99 % quantiles is widened by 40 % in inverse depth (in which planes are uniform),
/// at least to 3/4 of the near and 5/4 of the far depth. The same is done for quantiles weighted by area,
/// which cover untextured ground in front of the camera; since a few wrong points could shift these, they are
/// limited to 0.6 and 2.5 times the unweighted ones.
std::optional<DepthRange> widened(std::vector<Sample> samples, std::size_t least) {
  if (samples.size() < least) return std::nullopt;
  std::ranges::stable_sort(samples, {}, &Sample::depth);
  samples = supported(std::move(samples), least);
  std::array<int, kCells * kCells> in_cell{};
  for (const Sample& s : samples) ++in_cell[s.cell];
  std::vector<double> by_count(samples.size(), 1.0), by_area;
  for (const Sample& s : samples) by_area.push_back(1.0 / std::max(in_cell[s.cell], kMinInCell));
  const DepthRange points = inner_range(samples, by_count, 0.01), area = inner_range(samples, by_area, 0.01);

  const double front = 1 / points.near, back = 1 / points.far, span = front - back;
  const double near = 1 / (front + std::max(0.4 * span, front / 3));
  const double far = 1 / (back - std::min(std::max(0.4 * span, 0.2 * back), 0.6 * back));
  return DepthRange{std::min(near, std::max(0.75 * area.near, 0.6 * points.near)),
                    std::max(far, std::min(1.25 * area.far, 2.5 * points.far))};
}

/// The range from the points observed by the view; if these are few, from all points in its image.
std::optional<DepthRange> from_points(const SceneIndex& index, int v) {
  const ViewGeometry& view = index.views[v];
  const auto samples_of = [&](std::span<const int> points) {
    std::vector<Sample> samples;
    for (const int p : points)
      if (const auto sample = sample_of(view, index.scene.points[p].position)) samples.push_back(*sample);
    return samples;
  };
  if (const auto range = widened(samples_of(index.visibility.points_of_view[v]), kMinSeen)) return range;
  return widened(samples_of(index.blocks.near_image(view)), kMinInImage);
}

/// Length of the baseline perpendicular to the axis, at least a quarter of the full baseline: motion along
/// the axis shifts only points off the axis.
double effective_baseline(const ViewGeometry& view, const ViewGeometry& source) {
  const Vec3d step = source.centre - view.centre;
  const double along = dot(step, view.axis);
  return std::max(norm(step - along * view.axis), 0.25 * norm(step));
}

/// The part of a range in which the sources see at least kMinOverlap of what the view sees; the whole range
/// if there is none.
DepthRange overlapping(const SceneGeometry& views, const ViewGeometry& view, const std::vector<int>& sources,
                       DepthRange range) {
  const std::vector<Vec3d> rays = view.ray_grid(kRayGrid);
  std::optional<DepthRange> part;
  for (int i = 0; i < kDepthSamples; ++i) {
    const double z =
        range.near * std::pow(range.far / range.near, static_cast<double>(i) / (kDepthSamples - 1));
    const auto visible = std::ranges::count_if(rays, [&](Vec3d ray) {
      const Vec3d x = view.point_at(ray, z);
      return std::ranges::any_of(sources, [&](int s) { return views[s].sees(x); });
    });
    if (static_cast<double>(visible) < kMinOverlap * static_cast<double>(rays.size())) continue;
    part = DepthRange{part ? part->near : z, z};
  }
  return part && part->near < part->far ? *part : range;
}

/// Disparity times depth of a point on the axis, pixels of the source.
double parallax(const ViewGeometry& view, const ViewGeometry& source) {
  return source.focal * effective_baseline(view, source);
}

std::optional<DepthRange> from_geometry(const SceneIndex& index, int v, const std::vector<int>& sources) {
  const SceneGeometry& views = index.views;
  const ViewGeometry& view = views[v];
  std::vector<double> nearest, furthest;
  for (const int s : sources) {
    const ViewGeometry& source = views[s];
    const double moved = parallax(view, source);
    if (!(moved > 0)) continue;
    nearest.push_back(moved / (0.5 * std::max(source.width, source.height)));
    furthest.push_back(moved / kMinDisparity);
  }
  if (nearest.empty()) return std::nullopt;
  DepthRange range{quantile(nearest, 0.5), quantile(furthest, 1.0)};
  if (const auto distance = index.distances[v])
    range = {kNearOfDistance * *distance, kFarOfDistance * *distance};
  return overlapping(views, view, sources, range);
}

}  // namespace

std::vector<DepthRange> expected_ranges(const SceneIndex& index,
                                        const std::vector<std::vector<int>>& sources) {
  EXPECTS(sources.size() == index.scene.views.size());
  std::vector<DepthRange> ranges(sources.size());
  parallel_for(index.views.size(), [&](int view) {
    if (const auto range = from_points(index, view)) {
      ranges[view] = *range;
      return;
    }
    ranges[view] = from_geometry(index, view, sources[view]).value_or(kUnknownDepthRange);
    ranges[view].guessed = true;
  });
  return ranges;
}

DepthRange search_range(const SceneIndex& index, int view, const std::vector<int>& sources,
                        const DepthRange& expected) {
  const ViewGeometry& geometry = index.views[view];
  double furthest = 0;
  for (const int s : sources)
    furthest = std::max(furthest, parallax(geometry, index.views[s]) / kMinDisparity);
  const DepthRange whole{kNearOfExpected * expected.near, std::max(expected.far, furthest)};
  const DepthRange part = overlapping(index.views, geometry, sources, whole);
  return {std::min(part.near, expected.near), std::max(part.far, expected.far)};
}

DepthRange bounded(DepthRange range, const DepthRange& bounds) {
  EXPECTS(bounds.near >= 0 && bounds.near < bounds.far);
  const bool has_near = bounds.near > kAnyDepth.near;
  if (has_near) range.near = bounds.near;
  if (bounds.far < kAnyDepth.far) range.far = bounds.far;
  if (range.near >= range.far)
    (has_near ? range.far : range.near) = has_near ? 2 * range.near : 0.5 * range.far;
  return range;
}

DepthRange bounded(const DepthRange& expected, const DepthRange& bounds, const DepthRange& searched) {
  const DepthRange range = bounded(expected, bounds);
  DepthRange part{std::max(range.near, searched.near), std::min(range.far, searched.far)};
  if (part.near >= part.far) part = searched;
  part.guessed = expected.guessed;
  return part;
}

}  // namespace recon
