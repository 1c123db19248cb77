#include "methods/sweep/view_depth.hpp"

#include <cmath>
#include <limits>

#include "refine/depth_filters.hpp"
#include "refine/normals.hpp"

namespace recon {

namespace {

/// Max relative depth step between neighbours of a patch.
constexpr float kSpeckleStep = 0.02f;

}  // namespace

ViewDepth finish_view(Image<float> depth, Image<float> confidence, const Pinhole& camera, bool median,
                      int speckle_size) {
  ViewDepth result;
  result.depth = median ? median_3x3(depth.view()) : std::move(depth);
  remove_speckles(result.depth.view(), speckle_size, kSpeckleStep);
  result.normal = normals_from_depth(result.depth.view(), camera);
  result.confidence = std::move(confidence);
  for (int y = 0; y < result.depth.height(); ++y)
    for (int x = 0; x < result.depth.width(); ++x)
      if (std::isnan(result.depth(x, y))) result.confidence(x, y) = std::numeric_limits<float>::quiet_NaN();
  return result;
}

}  // namespace recon
