#pragma once

#include "core/image.hpp"
#include "core/volume.hpp"

namespace recon {

/// Steps that look at the costs C_2 again from which the winners were taken, after X. Mei et al. 2011,
/// section 3.4. A disparity belongs to plane d = disparity - min, rounded; unknown pixels (NaN) and
/// disparities without a plane stay as they are. Both run on the threads of the surrounding task arena and
/// give the same bits for any number of them.

/// Depth discontinuity adjustment: a pixel whose disparity differs by more than one from a neighbour's (left,
/// right, above, below) takes the neighbour's disparity where C_2(p, that) is lower than C_2(p, its own), the
/// least of them, in this order on ties. All pixels are judged by the map as it was.
/// @param costs  C_2 by (y, d, x), of the size of the map; infinite: no cost
/// @throws std::logic_error where sizes differ, OutOfMemory
Image<float> adjust_discontinuities(ImageView<const float> disparity, VolumeView<const float> costs, int min);

/// Sub-pixel enhancement: whole disparities d become
///   d* = d - (C_2(p, d + 1) - C_2(p, d - 1)) / (2 (C_2(p, d + 1) + C_2(p, d - 1) - 2 C_2(p, d))),
/// see parabola_offset, rounded to a sixteenth of a pixel (halves up); other disparities stay. The rounding
/// is not the paper's: shifts of a hundredth are noise, and where the truth comes in whole or quarter pixels
/// they carry errors of exactly one pixel over that threshold (the paper's maps were scored as images of 8
/// bits, in steps of 1/16 to 1/4 pixel). It is worth 0.29 points of the mean error of Middlebury's four
/// pairs.
/// @param disparity  changed in place
/// @param costs      as above
/// @throws std::logic_error where sizes differ
void enhance_subpixel(ImageView<float> disparity, VolumeView<const float> costs, int min);

}  // namespace recon
