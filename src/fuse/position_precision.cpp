#include "fuse/position_precision.hpp"

#include <algorithm>
#include <cmath>

namespace recon {

bool floats_suffice(const FusionView& view, double near, int spacing) {
  EXPECTS(near > 0 && spacing >= 1);
  constexpr double kRounding = 1.0 / (1 << 24);  // half a unit in the last place of a float, relative
  constexpr double kShareOfSpacing = 0.1;
  const Pose world_from_cam = inverse(view.cam_from_world);
  double largest = 0;
  for (const double x : {0.0, static_cast<double>(view.camera.width)})
    for (const double y : {0.0, static_cast<double>(view.camera.height)}) {
      const Vec3d corner = world_from_cam * (near * view.camera.ray({x, y}));
      largest = std::max({largest, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
    }
  const double distance = spacing * near / std::max(view.camera.fx, view.camera.fy);
  return kRounding * largest <= kShareOfSpacing * distance;
}

}  // namespace recon
