#include "fuse/planes/fill_planes.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/plane_view.hpp"

namespace recon {

void fill_planes(ImageView<const std::uint8_t> labels, int factor, const std::vector<WorldPlane>& planes,
                 const Pinhole& camera, const Pose& cam_from_world, const DepthRange& bounds,
                 const CheckedMaps& maps) {
  std::vector<SeenPlane> seen;
  for (const WorldPlane& plane : planes) seen.emplace_back(plane, camera, cam_from_world);
  parallel_for(camera.height, [&](int y) {
    const int row = std::min(y / factor, labels.height - 1);
    for (int x = 0; x < camera.width; ++x) {
      const std::uint8_t label = labels(std::min(x / factor, labels.width - 1), row);
      if (label == kNoSurface) {
        maps.depth(x, y) = kUnknown;
        maps.normal(x, y) = {kUnknown, kUnknown, kUnknown};
        maps.confidence(x, y) = kUnknown;
        continue;
      }
      if (label == kUnlabelled || label > seen.size() || (!maps.mask.empty() && maps.mask(x, y) == 0))
        continue;
      const SeenPlane& plane = seen[label - 1];
      const double inverse = plane.inverse_depth(pixel_centre(x, y));
      if (!(inverse > 0 && 1 / inverse >= bounds.near && 1 / inverse <= bounds.far)) continue;
      maps.depth(x, y) = static_cast<float>(1 / inverse);
      maps.normal(x, y) = {static_cast<float>(plane.normal.x), static_cast<float>(plane.normal.y),
                           static_cast<float>(plane.normal.z)};
      maps.confidence(x, y) = kFilledConfidence;
    }
  });
}

}  // namespace recon
