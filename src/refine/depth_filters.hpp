#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "refine/disparity_bounds.hpp"

namespace recon {

/// The standard deviation of grey levels in the square window of side `window` (odd) around each pixel,
/// borders repeated.
Image<float> local_contrast(ImageView<const std::uint8_t> grey, int window);

/// Replaces each known depth by the median of the known depths in its 3 x 3 window (the lower one of an even
/// number). Unknown (NaN) stays unknown.
Image<float> median_3x3(ImageView<const float> depth);

/// Moves each known disparity to the planes of its surface, see smoothed_disparity. Unknown (NaN) stays
/// unknown.
Image<float> smoothed_disparities(ImageView<const float> disparity, const DisparityBounds& bounds);

/// Invalidates every 4-connected region of fewer than `min_size` pixels; neighbours are connected if their
/// depths differ by at most `max_relative_step`. Source: H. Hirschmueller, TPAMI 2008, section 2.6 (peak
/// filter).
void remove_speckles(ImageView<float> depth, int min_size, float max_relative_step);

/// The same for disparities; see same_surface.
void remove_disparity_speckles(ImageView<float> disparity, int min_size);

}  // namespace recon
