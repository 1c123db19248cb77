#pragma once

#include "core/image.hpp"
#include "match/cross_arms_step.hpp"
#include "refine/outlier_step.hpp"
#include "refine/surface_step.hpp"

namespace recon {

/// Finds and repairs the outliers of a disparity map, after X. Mei et al., On building an accurate stereo
/// matching system on graphics hardware, GPUCV 2011, section 3.4. Disparities are in pixels, x_right = x_left
/// - d; unknown ones are NaN. All steps run on the threads of the surrounding task arena and give the same
/// bits for any number of threads.

/// Left-right check of each pixel of the left map; see views_agree.
/// @param right      D_R, same height as `left`
/// @param tolerance  max difference of agreeing disparities, pixels, >= 0; 0 in the paper
/// @throws std::logic_error for invalid sizes or ranges, OutOfMemory
Image<Outlier> left_right_check(ImageView<const float> left, ImageView<const float> right, float tolerance);

/// Region voting; the defaults are those of the paper's table 1.
struct VotingOptions {
  int min_votes = 20;      ///< tau_S: the region has more reliable pixels than this; >= 0
  float min_share = 0.4f;  ///< tau_H: a larger share of them has the winning disparity; 0 .. 1
  int iterations = 5;      ///< >= 0
};

/// Iterative region voting: an outlier takes the most frequent disparity d* of the reliable pixels of its
/// region (the lowest on ties, disparities rounded) if vote_decides, and is reliable from the next iteration.
/// The region of p is that of the cross-based aggregation: the horizontal arms of all pixels on p's vertical
/// arms. Known disparities outside the range do not vote. Unlike in the paper, votes contradicted by the
/// right map are rejected: this limits errors of regions across depth edges (0.07 points of the mean error of
/// Middlebury's four pairs).
/// @param disparity, outliers  of the same size; changed where votes are decisive
/// @param crosses     of the same size; arms end inside it
/// @param min, count  disparities of the histogram: min <= d < min + count
/// @param right       D_R, same height as `disparity`
/// @throws std::logic_error for invalid sizes or options, OutOfMemory
void vote_in_regions(ImageView<float> disparity, ImageView<Outlier> outliers, ImageView<const Cross> crosses,
                     int min, int count, const VotingOptions& options, ImageView<const float> right);

/// Proper interpolation: of the nearest reliable pixels in sixteen directions (search_step) an outlier takes
/// the disparity of the most similar colour (the lowest on ties) among those that the right map does not
/// contradict, or the lowest of all if it contradicts all. Pixels without a reliable pixel in any direction
/// are unchanged. Outlier labels are kept, so that later stages know which pixels were filled. In the paper
/// the map is not asked, and pixels of which no disparity agrees with it take the lowest of the sixteen: that
/// is often that of an outlier missed by the check (0.21 points, as above).
/// @param disparity        changed at outliers
/// @param outliers, image  of the same size
/// @param right            D_R, same height
/// @throws std::logic_error where sizes differ, OutOfMemory
void interpolate_outliers(ImageView<float> disparity, ImageView<const Outlier> outliers,
                          ImageView<const Rgb8> image, ImageView<const float> right);

/// Surfaces of a checked disparity map: 4-connected reliable pixels with disparity differences between
/// neighbours of at most one. Both steps run between the left-right check and the repair of outliers; the
/// system of X. Mei et al. 2011 has neither. They give the same bits for any number of threads.

/// Marks pixels of surfaces of fewer than `min_pixels` pixels as outliers: regions visible in
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
