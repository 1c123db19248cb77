#pragma once

#include "core/image.hpp"

namespace recon {

/// A depth map as people look at it: inverse depth between its 2 % and 98 % quantiles in the colours of
/// "turbo", near in red, far in blue; unknown pixels (NaN, not positive) are black. Source of the colours: A.
/// Mikhailov, "Turbo, an improved rainbow colormap", 2019, as OpenCV has them.
Image<Rgb8> depth_preview(ImageView<const float> depth);

/// The same for values that are near when large, such as disparities (pixels, also negative ones).
Image<Rgb8> disparity_preview(ImageView<const float> disparity);

}  // namespace recon
