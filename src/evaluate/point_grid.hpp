#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/vec.hpp"

namespace recon {

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

}  // namespace recon
