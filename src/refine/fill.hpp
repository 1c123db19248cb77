#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace recon {

/// Fills every unknown pixel (NaN) of a disparity map. A pixel takes one of up to eight surfaces, those of
/// the nearest known pixels along rows, columns and diagonals up to 255 pixels away, where the plane of the
/// surface leads: a copied disparity is the more wrong the farther it is carried over a slanted surface.
/// Chosen is the surface of the least sum of
///   the disparity, since occluded pixels belong to the background (H. Hirschmueller, TPAMI 2008, section
///   2.6), the distance in pixels, the difference of colours, max over the channels, and 20 if the right view
///   sees a surface behind.
/// Windows that contain a depth edge widen the near surface. Known pixels less than three columns from a
/// surface behind theirs are therefore decided in the same way, but for runs of a row that lie there as a
/// whole: thin objects. What changes by more than a pixel counts as filled, and others stay. Pixels with no
/// known one in any direction then take the smaller disparity of both sides in the row, or, in rows without
/// any, in the column. A map without unknown or without known pixels is left as it is. Deterministic for any
/// number of threads.
/// @param image       left image, of the size of the map
/// @param min, count  the range that was searched, which fillings do not leave
/// @returns 255 where a pixel was filled, else 0
/// @throws std::logic_error where sizes differ or count < 1; OutOfMemory
Image<std::uint8_t> fill_disparity(ImageView<float> disparity, ImageView<const Rgb8> image, int min,
                                   int count);

}  // namespace recon
