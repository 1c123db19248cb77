#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "match/patch.hpp"
#include "reference/sweep_problems.hpp"

namespace recon::reference {

using ImageOf8 = ImageView<const std::uint8_t>;

/// A number in [low, high) from a position in a sequence.
inline double drawn(std::uint32_t& position, double low, double high) {
  return low + (high - low) * hashed(71, position++);
}

/// The sums by the step, sample after sample.
inline PatchSums step_sums(ImageOf8 image, const PatchWeights& weights, int x, int y, ImageOf8 source,
                           const PatchWarp& warp) {
  PatchSums sums;
  const int radius = weights.radius(), centre = image(x, y);
  for (int dy = -radius, k = 0; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx, ++k) {
      const int u = sample_position(warp.u, dx, dy, warp.ux, warp.uy);
      const int v = sample_position(warp.v, dx, dy, warp.vx, warp.vy);
      const int x0 = u >> kSubpixelBits, y0 = v >> kSubpixelBits;
      if (!source.contains(x0, y0)) ADD_FAILURE() << u << " " << v;
      const int x1 = std::min(x0 + 1, source.width - 1), y1 = std::min(y0 + 1, source.height - 1);
      const int q = quarter_bilinear(source(x0, y0), source(x1, y0), source(x0, y1), source(x1, y1),
                                     static_cast<std::uint32_t>(u % kSubpixels),
                                     static_cast<std::uint32_t>(v % kSubpixels));
      if (!image.contains(x + dx, y + dy)) continue;
      const int r = image(x + dx, y + dy) - centre;
      add_sample(sums, weights.at(k, std::abs(r)), r, q - 4 * centre);
    }
  return sums;
}

/// The sums of the reference by the step.
inline ReferenceSums reference_sums(ImageOf8 image, const PatchWeights& weights, int x, int y) {
  ReferenceSums sums;
  const int radius = weights.radius();
  for (int dy = -radius, k = 0; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx, ++k) {
      if (!image.contains(x + dx, y + dy)) continue;
      const int r = image(x + dx, y + dy) - image(x, y), w = weights.at(k, std::abs(r));
      sums.weight += w, sums.r += w * r, sums.rr += w * r * r;
    }
  return sums;
}

}  // namespace recon::reference
