#include "evaluate/crop_volume.hpp"

#include <cstddef>

namespace recon {

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
