#pragma once

#include "core/image.hpp"
#include "match/cross_arms_step.hpp"
#include "refine/outlier_step.hpp"

namespace recon {

/// Finds and repairs the outliers of a disparity map, after X. Mei et al., On building an accurate stereo
/// matching system on graphics hardware, GPUCV 2011, section 3.4. Disparities are in pixels, x_right = x_left
/// - d; unknown ones are NaN. All steps run on the threads of the surrounding task arena and give the same
/// bits for any number of them.

/// What the left-right check finds of each pixel of the left map; see outlier_of.
/// @param right       D_R, as high as `left`
/// @param min, count  disparities tried before a pixel is called occluded: min <= d < min + count; count >= 0
/// @param tolerance   greatest difference of disparities that agree, pixels, >= 0; 0 is the paper's
/// @throws std::logic_error where sizes or ranges are not what they have to be, OutOfMemory
Image<Outlier> left_right_check(ImageView<const float> left, ImageView<const float> right, int min, int count,
                                float tolerance = 0.0f);

/// Region voting; the defaults are those of the paper's table 1.
struct VotingOptions {
  int min_votes = 20;      ///< tau_S: more reliable pixels than these; >= 0
  float min_share = 0.4f;  ///< tau_H: larger share of them that has the disparity voted for; 0 .. 1
  int iterations = 5;      ///< >= 0
};

/// Iterative region voting: an outlier takes the disparity d* that most reliable pixels of its region have
/// (the lowest on ties, disparities rounded) where vote_decides, and is reliable from the next iteration on.
/// The region of p is that of the cross-based aggregation: the horizontal arms of all pixels on p's vertical
/// arms. Known disparities outside the range do not vote. With the right map, which the paper does not ask, a
/// vote that it contradicts does not count: regions that reach over an edge of depth pull less of what is
/// hidden along (0.07 points of the mean error of Middlebury's four pairs).
/// @param disparity, outliers  of one size; changed where votes decide
/// @param crosses     of the same size; arms end inside it
/// @param min, count  disparities that are voted on: min <= d < min + count
/// @param right       D_R, as high as `disparity`; empty: votes are not checked
/// @throws std::logic_error where sizes or options are not what they have to be, OutOfMemory
void vote_in_regions(ImageView<float> disparity, ImageView<Outlier> outliers, ImageView<const Cross> crosses,
                     int min, int count, const VotingOptions& options = {},
                     ImageView<const float> right = {});

/// Proper interpolation: of the nearest reliable pixels in sixteen directions (search_step) an occlusion
/// takes the lowest disparity, as what is hidden belongs to the background, and a mismatch that of the most
/// similar colour (the lowest disparity on ties). Where no direction meets a reliable pixel the map stays as
/// it is. Labels stay, so that later steps know what was filled. With the right map, other than in the paper,
/// any outlier takes the disparity of the most similar colour among those that the map does not contradict,
/// the lowest of all where it contradicts each: the lowest of sixteen is often that of an outlier which the
/// check missed (0.21 points, as above).
/// @param disparity        changed at outliers
/// @param outliers, image  of the same size
/// @param right            D_R, as high; empty: the rule of the paper
/// @throws std::logic_error where sizes differ, OutOfMemory
void interpolate_outliers(ImageView<float> disparity, ImageView<const Outlier> outliers,
                          ImageView<const Rgb8> image, ImageView<const float> right = {});

}  // namespace recon
