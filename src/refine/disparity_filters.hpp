#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// Makes unknown every 4-connected patch of fewer than `min_size` pixels, where neighbours belong together
/// when their disparities differ by at most `max_step` pixels. Source: H. Hirschmueller, TPAMI 2008, section
/// 2.6 (peak filter).
void remove_disparity_speckles(ImageView<float> disparity, int min_size, float max_step = 1.0f);

/// Gives every unknown pixel (NaN) a disparity: the smaller one of the nearest known ones on both sides of it
/// in its row, as what is hidden belongs to the background; at a border the one there is. A row without any
/// takes for each pixel the smaller one of the nearest rows with some, above and below, filled before.
/// Deterministic for any number of threads. Source: H. Hirschmueller, TPAMI 2008, section 2.6
/// (discontinuity-preserving interpolation), along rows, where all that is hidden in a rectified pair lies.
/// @returns 255 where a pixel was filled, else 0; nothing is filled when nothing is known
Image<std::uint8_t> fill_disparity(ImageView<float> disparity);

}  // namespace recon
