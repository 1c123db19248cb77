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

/// rho(c, lambda) = 1 - exp(-c / lambda) of X. Mei et al. 2011, equation 3: 0 .. 1.
RECON_HD float saturated(float cost, float lambda) {
  return 1.0f - expf(-cost / lambda);
}

/// C(p, d) = rho(C_census, lambda_census) + rho(C_AD, lambda_AD), 0 .. 2. Source: X. Mei, X. Sun, M. Zhou, S.
/// Jiao, H. Wang and X. Zhang, "On building an accurate stereo matching system on graphics hardware", ICCV
/// workshops 2011, equation 4.
/// @param bits         Hamming distance of the pixels' 9 x 7 censuses
/// @param channel_sum  sum of |differences| over R, G and B
RECON_HD float ad_census_cost(int bits, int channel_sum, const AdCensusOptions& options) {
  return saturated(static_cast<float>(bits), options.lambda_census) +
         saturated(mean_difference(channel_sum), options.lambda_ad);
}

/// The grey level of a pixel whose census is taken: (299 R + 587 G + 114 B) / 1000, rounded.
RECON_HD int grey_of(Rgb8 p) {
  return (299 * p.r + 587 * p.g + 114 * p.b + 500) / 1000;
}

}  // namespace recon
