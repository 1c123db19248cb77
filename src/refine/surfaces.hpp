#pragma once

#include "core/image.hpp"
#include "refine/outlier_step.hpp"
#include "refine/surface_step.hpp"

namespace recon {

/// Surfaces of a checked disparity map: 4-connected reliable pixels whose disparities differ by at most one
/// from neighbour to neighbour. Both steps come between the left-right check and the repair of outliers; the
/// system of X. Mei et al. 2011 has neither. They give the same bits for any number of threads.

/// Makes the pixels of surfaces of fewer than `least` pixels outliers (occlusions): what both views hide from
/// each other matches by chance, and a small wrong surface spreads over all that is repaired from it (0.14
/// points of the mean error of Middlebury's four pairs). Source: H. Hirschmueller, TPAMI 2008, section 2.6
/// (peak filter).
/// @param outliers  of the size of the map; pixels of unknown disparity (NaN) become outliers as well
/// @throws std::logic_error where sizes differ, OutOfMemory
void invalidate_small_segments(ImageView<const float> disparity, ImageView<Outlier> outliers,
                               int least = kMinSurface);

/// Carries surfaces on into the strip at the left border that lies outside the right view. An outlier p of
/// column x belongs to it where x - d(q) < 0, q the nearest reliable pixel to the right in its row; it takes
///   d(p) = a + b (x_p - x_q) + c (y_p - y_q), kept within min .. min + count - 1,
/// the plane of least squares through the surface of q within kFitReach columns and rows of it, d(q) where
/// that has fewer than kMinFit pixels or lies on a line. Such pixels are marked reliable. A surface that
/// leans keeps leaning, where a copied disparity is off by more the farther it is carried: of the strip of
/// Middlebury's teddy 25 % are wrong instead of 67 % (0.11 points of the mean error of the four pairs).
/// @param disparity, outliers  of one size
/// @throws std::logic_error where sizes differ or count < 1, OutOfMemory
void extend_surfaces(ImageView<float> disparity, ImageView<Outlier> outliers, int min, int count);

}  // namespace recon
