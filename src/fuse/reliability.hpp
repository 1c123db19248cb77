#pragma once

#include "core/image.hpp"
#include "fuse/agreement.hpp"

namespace recon {

/// The probability that a depth is right, to within 1 %: a logistic model of what the sources say and of the
/// variation of the depths around the pixel. The coefficients were fitted to true depths of rendered and real
/// scenes, see tests/bench/results/confidence.md.
/// @param variation  see inverse_depth_variation
float reliability(const Agreement& agreement, float variation);

/// The same for a depth where no source has one, by the photo-consistency cost.
/// @param cost  1 - ZNCC, [0, 2]
float lone_reliability(float cost, float variation);

/// The same for one that a plane of the scene fills, where no source has a depth; elsewhere it is at most
/// this, as views share their planes and with them their errors. lone_reliability is at most 0.84.
inline constexpr float kFilledReliability = 0.92f;

/// The same for one that a prior fills.
inline constexpr float kPriorReliability = 0.7f, kLonePriorReliability = 0.5f;

/// Whether the check across views keeps a depth: its reliability is at least `min_reliability`, and either
/// `options.min_views` sources agree, or no source has a depth there and it is at least
/// `options.min_lone_confidence`.
bool keeps_depth(const Agreement& agreement, float reliability, const ConsistencyOptions& options,
                 float min_reliability);

/// (max - min) / centre of the known inverse depths of the 7 x 7 window; 0 where the centre is unknown.
Image<float> inverse_depth_variation(ImageView<const float> depth);
/// The same at one pixel.
float inverse_depth_variation(ImageView<const float> depth, int x, int y);

}  // namespace recon
