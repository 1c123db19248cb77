#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/block_options.hpp"

namespace recon {

/// Horizontal Sobel gradient of a pixel, clipped to -cap .. cap and shifted to 0 .. 2 cap. `at(i, j)` gives
/// the grey level at offset (i, j), the border repeated.
template <class At>
RECON_HD std::uint8_t sobel_response(int cap, const At& at) {
  const int slope = (at(1, -1) - at(-1, -1)) + 2 * (at(1, 0) - at(-1, 0)) + (at(1, 1) - at(-1, 1));
  return static_cast<std::uint8_t>((slope < -cap ? -cap : (slope > cap ? cap : slope)) + cap);
}

/// The bilinear sample `part` / `steps` of the way from one pixel to the next, rounded half up.
RECON_HD std::uint8_t fractional_sample(int pixel, int next, int part, int steps) {
  return static_cast<std::uint8_t>((pixel * (steps - part) + next * part + steps / 2) / steps);
}

/// Position of hypothesis k (disparity min + k / steps) of pixel x in the right image, in steps; clamped to
/// the border pixel.
RECON_HD int right_position(int x, int k, int min, int steps, int width) {
  const int position = steps * (x - min) - k;
  const int last = steps * (width - 1);
  return position < 0 ? 0 : (position > last ? last : position);
}

/// Mean of the four pixels covered by one pixel of the next coarser level, rounded half up.
RECON_HD std::uint8_t mean_of_four(int a, int b, int c, int d) {
  return static_cast<std::uint8_t>((a + b + c + d + 2) >> 2);
}

/// The cost of one pixel: |a - b| or its square.
template <BlockCost kCost>
RECON_HD int pixel_cost(int a, int b) {
  const int difference = a < b ? b - a : a - b;
  return kCost == BlockCost::kSad ? difference : difference * difference;
}

/// Maximum value of a prefiltered pixel.
RECON_HD int max_pixel(const BlockMatchingOptions& options) {
  return options.prefilter == BlockPrefilter::kSobel ? 2 * options.prefilter_cap : 255;
}

/// Whether the sum over any window fits 16 bits, with the maximum value reserved for "no cost": (2 R + 1)^2
/// max |a - b| < 65535. Otherwise it fits 32 bits: 31^2 255^2 < 2^26.
RECON_HD bool sums_fit_16_bits(const BlockMatchingOptions& options) {
  const int side = 2 * options.radius + 1;
  return options.cost == BlockCost::kSad && side * side * max_pixel(options) < 65535;
}

}  // namespace recon
