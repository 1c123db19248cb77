#include "fuse/planes/fill_planes.hpp"

#include <algorithm>
#include <limits>

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

Image<float> depths_of_planes(ImageView<const std::uint8_t> labels, const std::vector<WorldPlane>& planes,
                              const Pinhole& camera, const Pose& cam_from_world) {
  std::vector<SeenPlane> seen;
  for (const WorldPlane& plane : planes) seen.emplace_back(plane, camera, cam_from_world);
  Image<float> depths(labels.width, labels.height, kUnknown);
  for (int y = 0; y < labels.height; ++y)
    for (int x = 0; x < labels.width; ++x) {
      const std::uint8_t label = labels(x, y);
      if (label == kUnlabelled) continue;
      const bool surface = label != kNoSurface && label <= seen.size();
      const double inverse = surface ? seen[label - 1].inverse_depth(pixel_centre(x, y)) : 0;
      depths(x, y) = inverse > 0 ? static_cast<float>(1 / inverse) : std::numeric_limits<float>::infinity();
    }
  return depths;
}

}  // namespace recon
