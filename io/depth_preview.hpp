#pragma once

#include "core/image.hpp"

namespace recon {

/// Colour preview of a depth map: inverse depth between its 2 % and 98 % quantiles in the "turbo" colour map,
/// near in red, far in blue; unknown pixels (NaN, not positive) are black. Source of the colours: A.
/// Mikhailov, "Turbo, an improved rainbow colormap", 2019, as in OpenCV.
Image<Rgb8> depth_preview(ImageView<const float> depth);

/// The same for values that increase with nearness, such as disparities (pixels, possibly negative).
Image<Rgb8> disparity_preview(ImageView<const float> disparity);

}  // namespace recon
