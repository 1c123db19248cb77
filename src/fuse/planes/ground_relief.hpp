#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// The bounding rectangle of places on a ground.
struct PlaceBounds {
  explicit PlaceBounds(Vec3d up);
  void add(Vec3d place);

  Vec3d axes[2];  ///< unit, perpendicular to each other and to up
  double min[2], max[2];
};

/// Votes of places on a ground for one of several levels, in square cells: first all vote, then it decides,
/// then it can be asked.
class GroundRelief {
 public:
  GroundRelief() = default;

  /// @param bounds  of the places that vote
  /// @param cell    side of a cell, scene units; larger if there would be too many
  GroundRelief(const PlaceBounds& bounds, int levels, double cell);

  void vote(Vec3d place, int level, float weight);

  /// Sets the levels of the cells from the votes around them, in the smallest square that has enough.
  void decide();

  /// The level at a place, between those of the cells around it; none if no cell there is decided.
  std::optional<double> level(Vec3d place) const;

 private:
  /// Coordinates of a place, cells.
  Vec2d in_cells(Vec3d place) const;
  std::ptrdiff_t cells() const { return static_cast<std::ptrdiff_t>(size_[0]) * size_[1]; }
  std::vector<float> summed(int reach) const;
  float decided(const std::vector<float>& of_levels, std::ptrdiff_t cell, float min_votes) const;

  PlaceBounds bounds_{{0, 0, 1}};
  double cell_ = 1;
  int size_[2] = {}, levels_ = 0;
  std::vector<float> votes_;    ///< of each cell, level by level
  std::vector<float> decided_;  ///< the level of each cell; NaN: none
};

}  // namespace recon
