#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// The part of space that an evaluation looks at: a polygon in the plane of two coordinates, extended along
/// the third, as the volumes of Open3D's editor are, which Tanks and Temples gives for its scenes.
struct CropVolume {
  int axis = 2;                ///< along which the polygon is extended: x 0, y 1, z 2
  double min = 0, max = 0;     ///< of that coordinate, both within
  std::vector<Vec2d> polygon;  ///< corners by the two other coordinates, in the order x, y, z

  /// Whether a point is within, by the even-odd rule where the polygon crosses itself. Which points of its
  /// border are within is not defined. A point that is not finite is outside.
  bool contains(Vec3d point) const;
};

/// A cell of a grid of cubes aligned with the axes and the origin; ordered by z, then y, then x.
struct Cell {
  std::int64_t z, y, x;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

/// The cell of edge length `size` > 0 that contains a finite point. Coordinates are clamped to 2^62 cells.
Cell cell_of(Vec3d point, double size);

/// At most one point for each cube of edge length `voxel` > 0: the one nearest to the cube's centre, lowest
/// index on ties. The result is in the order of the cubes (z, y, x), for any number of threads. Points that
/// are not finite are dropped. Thinning parts and then their union gives the same result as thinning the
/// whole.
std::vector<Vec3d> thin(std::span<const Vec3d> points, double voxel);

/// Finds the nearest of a set of points within a fixed radius: points are sorted by cells of the size of the
/// radius, so that nine runs of three neighbouring cells contain all candidates.
class PointGrid {
 public:
  /// @param points  those that are not finite are never found
  /// @param radius  > 0
  PointGrid(std::span<const Vec3d> points, double radius);

  /// The distance from `query` to the nearest point if it is <= radius; +infinity otherwise.
  double nearest_distance(Vec3d query) const;

  /// `nearest_distance` of each query, in parallel.
  std::vector<double> nearest_distances(std::span<const Vec3d> queries) const;

 private:
  double radius_;
  double cell_size_;
  std::vector<Cell> cells_;  ///< of each point, ascending
  std::vector<Vec3d> points_;
};

/// Nearest-neighbour distances from one cloud to the other, searched up to the threshold. NaN: no points.
struct DistanceSummary {
  double mean = 0;    ///< a point without a neighbour within the threshold counts with the threshold
  double median = 0;  ///< +infinity when more than half of the points have no such neighbour
};

/// Score of an estimated cloud against a reference at one distance threshold.
struct CloudScore {
  double threshold = 0;  ///< distance, scene units
  double voxel = 0;      ///< edge length of the voxels: both clouds have at most one point per voxel
  std::size_t estimate_points = 0;   ///< after thinning
  std::size_t reference_points = 0;  ///< after thinning
  double precision = 0;  ///< share of the estimated points with a reference point within the threshold
  double recall = 0;     ///< share of the reference points with an estimated point within the threshold
  double f1 = 0;         ///< harmonic mean of both; 0 when both are 0
  DistanceSummary estimate_distance;   ///< from the estimated points to the reference
  DistanceSummary reference_distance;  ///< from the reference points to the estimate
};

/// Precision, recall and F1 of a cloud against a reference (Knapitsch et al. 2017, equations 1 to 5, without
/// their cropping): both are thinned to one point per voxel (see `thin`), then the nearest point in the other
/// cloud is found for each point. The share of an empty cloud is 0. Points that are not finite are dropped.
/// Deterministic.
/// @param threshold  > 0, scene units
/// @param voxel      > 0, scene units; half the threshold is customary
CloudScore score_cloud(std::span<const Vec3d> estimate, std::span<const Vec3d> reference, double threshold,
                       double voxel);

}  // namespace recon
