#include "evaluate/cloud_score.hpp"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "evaluate/statistics.hpp"

namespace recon {
namespace {

constexpr int kGrain = 1024;

bool is_finite(Vec3d p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
}

int checked_count(std::span<const Vec3d> points) {
  EXPECTS(points.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  return static_cast<int>(points.size());
}

std::int64_t cell_coordinate(double x, double size) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  return static_cast<std::int64_t>(std::clamp(std::floor(x / size), -kLimit, kLimit));
}

Vec3d centre_of(Cell cell, double size) {
  const auto middle = [&](std::int64_t c) { return (static_cast<double>(c) + 0.5) * size; };
  return {middle(cell.x), middle(cell.y), middle(cell.z)};
}

/// Entry of a point in a sorted list.
struct Entry {
  Cell cell;
  double rank;  ///< sort key among the points of a cell
  std::int32_t index;
  auto operator<=>(const Entry&) const = default;
};

/// One entry for each finite point, by cell, `rank(point, cell)` and index.
template <class Rank>
std::vector<Entry> sorted_entries(std::span<const Vec3d> points, double cell_size, const Rank& rank) {
  std::vector<Entry> entries(points.size());
  parallel_for(
      checked_count(points),
      [&](int i) {
        const Vec3d point = points[i];
        const Cell cell = is_finite(point) ? cell_of(point, cell_size) : Cell{};
        entries[i] = {cell, rank(point, cell), i};
      },
      kGrain);
  std::erase_if(entries, [&](const Entry& entry) { return !is_finite(points[entry.index]); });
  oneapi::tbb::parallel_sort(entries.begin(), entries.end());
  return entries;
}

/// Share of the queries with a point within the threshold, and a summary of their distances.
double compare(const std::vector<Vec3d>& queries, const std::vector<Vec3d>& points, double threshold,
               DistanceSummary& summary) {
  std::vector<double> distances = PointGrid(points, threshold).nearest_distances(queries);
  const auto near = std::ranges::count_if(distances, [&](double d) { return d <= threshold; });
  summary.median = median(distances);
  for (double& distance : distances) distance = std::min(distance, threshold);
  summary.mean = mean(distances);
  return share(near, distances.size());
}

}  // namespace

Cell cell_of(Vec3d point, double size) {
  return {cell_coordinate(point.z, size), cell_coordinate(point.y, size), cell_coordinate(point.x, size)};
}

std::vector<Vec3d> thin(std::span<const Vec3d> points, double voxel) {
  EXPECTS(voxel > 0);
  const auto entries = sorted_entries(points, voxel, [&](Vec3d point, Cell cell) {
    const Vec3d offset = point - centre_of(cell, voxel);
    return dot(offset, offset);
  });
  std::vector<Vec3d> kept;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (i == 0 || entries[i].cell != entries[i - 1].cell) kept.push_back(points[entries[i].index]);
  return kept;
}

PointGrid::PointGrid(std::span<const Vec3d> points, double radius)
    // So that rounding never places two points within the radius two cells apart.
    : radius_(radius), cell_size_(radius * (1 + 1e-9)) {
  EXPECTS(radius > 0);
  const auto entries = sorted_entries(points, cell_size_, [](Vec3d, Cell) { return 0.0; });
  cells_.reserve(entries.size());
  points_.reserve(entries.size());
  for (const Entry& entry : entries) {
    cells_.push_back(entry.cell);
    points_.push_back(points[entry.index]);
  }
}

double PointGrid::nearest_distance(Vec3d query) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (!is_finite(query)) return kNone;
  const Cell centre = cell_of(query, cell_size_);
  double best = kNone;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy) {
      const Cell first{centre.z + dz, centre.y + dy, centre.x - 1};
      const Cell last{centre.z + dz, centre.y + dy, centre.x + 1};
      const auto begin = std::lower_bound(cells_.begin(), cells_.end(), first);
      for (auto i = begin - cells_.begin(); i < std::ssize(cells_) && cells_[i] <= last; ++i) {
        const Vec3d offset = points_[i] - query;
        best = std::min(best, dot(offset, offset));
      }
    }
  const double distance = std::sqrt(best);
  return distance <= radius_ ? distance : kNone;
}

std::vector<double> PointGrid::nearest_distances(std::span<const Vec3d> queries) const {
  std::vector<double> distances(queries.size());
  parallel_for(
      checked_count(queries), [&](int i) { distances[i] = nearest_distance(queries[i]); }, kGrain);
  return distances;
}

CloudScore score_cloud(std::span<const Vec3d> estimate, std::span<const Vec3d> reference, double threshold,
                       double voxel) {
  EXPECTS(threshold > 0 && voxel > 0);
  const std::vector<Vec3d> thin_estimate = thin(estimate, voxel);
  const std::vector<Vec3d> thin_reference = thin(reference, voxel);
  CloudScore score;
  score.threshold = threshold;
  score.voxel = voxel;
  score.estimate_points = thin_estimate.size();
  score.reference_points = thin_reference.size();
  score.precision = compare(thin_estimate, thin_reference, threshold, score.estimate_distance);
  score.recall = compare(thin_reference, thin_estimate, threshold, score.reference_distance);
  score.f1 = share(2 * score.precision * score.recall, score.precision + score.recall);
  return score;
}

bool CropVolume::contains(Vec3d point) const {
  const double along = axis == 0 ? point.x : axis == 1 ? point.y : point.z;
  if (!(along >= min && along <= max)) return false;
  const double u = axis == 0 ? point.y : point.x, v = axis == 2 ? point.y : point.z;
  bool inside = false;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2d a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    if ((a.y > v) != (b.y > v) && u < a.x + (v - a.y) / (b.y - a.y) * (b.x - a.x)) inside = !inside;
  }
  return inside;
}

}  // namespace recon
