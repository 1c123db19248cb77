#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "core/vec.hpp"

namespace recon {

/// Normals are averaged over windows of this radius, pixels.
inline constexpr int kMeanNormalRadius = 2;
/// Of the pixels of one surface: the max difference of their depths from the centre's, in units of that, and
/// the min cosine of the angle between their normals (30 degrees).
inline constexpr float kMeanNormalDepths = 0.02f, kMeanNormalCosine = 0.8660254f;

/// Whether a pixel is of the surface of the centre; not if either is unknown.
/// @param away    the difference of their depths
/// @param limit   max |away|
/// @param cosine  of the angle between their normals
RECON_HD bool shares_normal(float away, float limit, float cosine) {
  return (away < 0 ? -away : away) <= limit && cosine >= kMeanNormalCosine;
}

/// The mean normal around a pixel, see mean_normals. The order and the rounding of the operations are part of
/// the definition.
/// @param depth, normal  (dx, dy) -> those of a pixel of the window, NaN where unknown or outside the image
template <class Depth, class Normal>
RECON_HD Vec3f mean_normal_step(const Depth& depth, const Normal& normal) {
  const Vec3f own = normal(0, 0);
  const float middle = depth(0, 0), limit = kMeanNormalDepths * middle;
  Vec3f sum{0, 0, 0};
  for (int dy = -kMeanNormalRadius; dy <= kMeanNormalRadius; ++dy)
    for (int dx = -kMeanNormalRadius; dx <= kMeanNormalRadius; ++dx) {
      const Vec3f n = normal(dx, dy);
      const float cosine = (n.x * own.x + n.y * own.y) + n.z * own.z;
      if (shares_normal(depth(dx, dy) - middle, limit, cosine)) sum = {sum.x + n.x, sum.y + n.y, sum.z + n.z};
    }
  // Where the own normal is unknown, the sum is 0 and the result 0 times infinity, NaN.
  const float scale = 1.0f / std::sqrt((sum.x * sum.x + sum.y * sum.y) + sum.z * sum.z);
  return {scale * sum.x, scale * sum.y, scale * sum.z};
}

}  // namespace recon
