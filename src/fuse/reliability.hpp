#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "fuse/consistency.hpp"

namespace recon {

/// What the sources say of a depth, each at the pixel of its reprojection; saturated at 255.
struct Agreement {
  std::uint8_t known = 0;    ///< sources with a depth there
  std::uint8_t agree = 0;    ///< of these, with the same depth and a similar normal
  std::uint8_t through = 0;  ///< with a larger depth: they see through the point
  std::uint8_t hidden = 0;   ///< with a smaller depth: something hides the point from them
};

/// Adds what one source says of every known depth of `reference`.
/// @param[in,out] counts  of the reference's size
void count_agreement(const DepthView& reference, const DepthView& source, const ConsistencyOptions& options,
                     ImageView<Agreement> counts);

/// The probability that a depth is right, to within 1 %: a logistic model of the photo-consistency cost, of
/// what the sources say and of the variation of the depths around the pixel. The coefficients were fitted to
/// rendered depths, see tests/bench/results/confidence.md.
/// @param cost       1 - ZNCC, [0, 2]
/// @param variation  see inverse_depth_variation
float reliability(const Agreement& agreement, float cost, float variation);

/// (max - min) / centre of the known inverse depths of the 7 x 7 window; 0 where the centre is unknown.
Image<float> inverse_depth_variation(ImageView<const float> depth);

}  // namespace recon
