#pragma once

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

}  // namespace recon
