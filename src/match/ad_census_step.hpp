#pragma once

#include <cmath>

#include "core/hd.hpp"
#include "match/colour_difference_step.hpp"

namespace recon {

/// The two lambdas of AD-Census; each > 0.
struct AdCensusOptions {
  float lambda_ad = 10.0f;      ///< grey levels
  float lambda_census = 30.0f;  ///< bits
};

/// The maximum Hamming distance of two 9 x 7 censuses.
inline constexpr int kMaxAdCensusBits = 62;

/// rho(c, lambda) = 1 - exp(-c / lambda), 0 .. 1. The AD-Census cost of a pixel is the sum of two of them, 0
/// .. 2: rho(C_census, lambda_census) + rho(C_AD, lambda_AD), with the Hamming distance of the 9 x 7 censuses
/// and the mean |difference| over R, G and B. Source: X. Mei, X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang,
/// "On building an accurate stereo matching system on graphics hardware", ICCV workshops 2011, equations 3
/// and 4.
RECON_HD float saturated(float cost, float lambda) {
  return 1.0f - expf(-cost / lambda);
}

/// The grey level of a pixel whose census is taken: (299 R + 587 G + 114 B) / 1000, rounded.
RECON_HD int grey_of(Rgb8 p) {
  return (299 * p.r + 587 * p.g + 114 * p.b + 500) / 1000;
}

}  // namespace recon
