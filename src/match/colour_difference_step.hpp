#pragma once

#include "core/hd.hpp"
#include "core/image.hpp"

namespace recon {

/// Maximum of channel_sum.
inline constexpr int kMaxChannelSum = 3 * 255;

/// |R - R'| + |G - G'| + |B - B'|
RECON_HD int channel_sum(Rgb8 p, Rgb8 q) {
  const int r = p.r - q.r, g = p.g - q.g, b = p.b - q.b;
  return (r < 0 ? -r : r) + (g < 0 ? -g : g) + (b < 0 ? -b : b);
}

/// C_AD of X. Mei et al. 2011, equation 1: the mean of |difference| over R, G and B.
RECON_HD float mean_difference(int channel_sum) {
  return static_cast<float>(channel_sum) / 3.0f;
}

/// The maximum |difference| over R, G and B: the colour distance of K. Zhang, J. Lu and G. Lafruit 2009.
RECON_HD int max_difference(Rgb8 p, Rgb8 q) {
  int r = p.r - q.r, g = p.g - q.g, b = p.b - q.b;
  r = r < 0 ? -r : r, g = g < 0 ? -g : g, b = b < 0 ? -b : b;
  const int rg = r > g ? r : g;
  return rg > b ? rg : b;
}

}  // namespace recon
