#pragma once

#include <cstdint>
#include <cstring>

#include "core/hd.hpp"

/// Window costs from exact integer sums. With 8-bit pixels and windows of at most 15 x 15, n^2 times any
/// variance or covariance fits in 32 bits: n S_aa - S_a^2 <= 225^2 * 127.5^2 < 2^30, and the products wrap
/// around harmlessly.

namespace recon {

/// 1/sqrt(2 h) from a guess, given as `magic` less half the bits of `from`: three Newton steps.
RECON_HD float inverse_sqrt_from(float from, std::uint32_t magic, float h) {
  std::uint32_t bits;
  memcpy(&bits, &from, sizeof from);
  bits = magic - (bits >> 1);
  float y;
  memcpy(&y, &bits, sizeof y);
  y = y * (1.5f - (h * y) * y);
  y = y * (1.5f - (h * y) * y);
  y = y * (1.5f - (h * y) * y);
  return y;
}

/// 1/sqrt(x) for normal x > 0 with relative error 2e-7, in operations that round identically on all
/// processors (rsqrt instructions do not): a bit-level initial guess and three Newton steps (C. Lomont, Fast
/// inverse square root, 2003).
RECON_HD float inverse_sqrt(float x) {
  return inverse_sqrt_from(x, 0x5F375A86u, 0.5f * x);
}

/// inverse_sqrt(2 h) to the bit, for normal h > 0; finite for h = 0. The bits of 2 h are those of h plus
/// 2^23: half of that is part of the constant.
RECON_HD float inverse_sqrt_of_twice(float h) {
  return inverse_sqrt_from(h, 0x5F375A86u - 0x00400000u, h);
}

/// Mean absolute difference from the sum over the window and all channels; `inverse_count` is 1 / (pixels *
/// channels).
RECON_HD float sad_cost(std::uint32_t sum, float inverse_count) {
  return static_cast<float>(sum) * inverse_count;
}

/// n S_xx - S_x^2 = n^2 var(x), exact.
RECON_HD std::int32_t scaled_variance(std::uint32_t n, std::uint32_t sum, std::uint32_t sum_of_squares) {
  return static_cast<std::int32_t>(n * sum_of_squares - sum * sum);
}

/// n S_ab - S_a S_b = n^2 cov(a, b), exact.
RECON_HD std::int32_t scaled_covariance(std::uint32_t n, std::uint32_t sum_a, std::uint32_t sum_b,
                                        std::uint32_t sum_ab) {
  return static_cast<std::int32_t>(n * sum_ab - sum_a * sum_b);
}

/// 1 - ZNCC from scaled (co)variances, in [0, 2]; 1 where either window is flat. There is no epsilon on the
/// variance: it would favour weak texture over strong.
RECON_HD float zncc_cost(std::int32_t variance_a, std::int32_t variance_b, std::int32_t covariance) {
  if (variance_a <= 0 || variance_b <= 0) return 1.0f;
  const float product = static_cast<float>(variance_a) * static_cast<float>(variance_b);
  const float cost = 1.0f - static_cast<float>(covariance) * inverse_sqrt(product);
  return cost < 0.0f ? 0.0f : cost;
}

}  // namespace recon
