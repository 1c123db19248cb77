#pragma once

#include "core/image.hpp"
#include "refine/outlier_step.hpp"
#include "refine/surface_step.hpp"

namespace recon {

/// Surfaces of a checked disparity map: 4-connected reliable pixels with disparity differences between
/// neighbours of at most one. Both steps run between the left-right check and the repair of outliers; the
/// system of X. Mei et al. 2011 has neither. They give the same bits for any number of threads.

/// Marks pixels of surfaces of fewer than `min_pixels` pixels as outliers (occlusions): regions visible in
/// only one view match randomly, and the repair of outliers spreads small wrong surfaces (0.14 points of the
/// mean error of Middlebury's four pairs). Source: H. Hirschmueller, TPAMI 2008, section 2.6 (peak filter).
/// @param outliers  of the size of the map; pixels of unknown disparity (NaN) also become outliers
/// @throws std::logic_error where sizes differ, OutOfMemory
void invalidate_small_segments(ImageView<const float> disparity, ImageView<Outlier> outliers,
                               int min_pixels = kMinSurface);

/// Extends surfaces into the strip at the left border that lies outside the right view. An outlier p of
/// column x belongs to the strip if x - d(q) < 0, q the nearest reliable pixel to the right in its row; it
/// takes
///   d(p) = a + b (x_p - x_q) + c (y_p - y_q), clamped to min .. min + count - 1,
/// the least-squares plane through the surface of q within kFitReach columns and rows, or d(q) if it has
/// fewer than kMinFit pixels or they are collinear. Such pixels are marked reliable. The plane preserves
/// slanted surfaces, whereas the error of a copied disparity grows with the distance: in the strip of
/// Middlebury's teddy 25 % are wrong instead of 67 % (0.11 points of the mean error of the four pairs).
/// @param disparity, outliers  of the same size
/// @throws std::logic_error where sizes differ or count < 1, OutOfMemory
void extend_surfaces(ImageView<float> disparity, ImageView<Outlier> outliers, int min, int count);

}  // namespace recon
