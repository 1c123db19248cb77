#include "fuse/consistency.hpp"

#include <limits>

#include "core/parallel.hpp"

namespace recon {

Image<float> consistent_depth(const DepthView& reference, const std::vector<DepthView>& sources,
                              const ConsistencyOptions& options) {
  EXPECTS(options.max_relative_depth > 0 && options.min_views >= 0);
  const double cosine = min_cosine(options);
  Image<float> result(reference.depth.width, reference.depth.height);
  parallel_for(reference.depth.height, [&](int y) {
    for (int x = 0; x < reference.depth.width; ++x) {
      const float z = reference.depth(x, y);
      int agreeing = 0;
      if (!std::isnan(z)) {
        const Vec3d point = point_in_world(reference, x, y, z);
        const Vec3d normal = normal_in_world(reference, x, y);
        for (const DepthView& source : sources) {
          const std::optional<Reprojection> s = reproject(source, point);
          if (s && depths_agree(*s, options) &&
              normals_agree(normal, normal_in_world(source, s->x, s->y), cosine))
            ++agreeing;
        }
      }
      result(x, y) = agreeing >= options.min_views ? z : std::numeric_limits<float>::quiet_NaN();
    }
  });
  return result;
}

}  // namespace recon
