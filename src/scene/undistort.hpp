#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "scene/camera.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The pinhole camera that the undistorted image of `camera` has: for a pinhole the camera itself, otherwise
/// the same focal lengths and the largest (at most original-sized) frame whose pixels all have an image in
/// `camera`, bounded for wide fisheye lenses. Scaled down so that no side is longer than `max_size` pixels
/// (0: no limit).
/// @throws InputError when the distortion leaves no part of the image that can be straightened
Pinhole undistorted_camera(const Camera& camera, int max_size = 0);

/// The image that `target` sees of a photo taken by `camera`: bilinear where the size stays, the mean of as
/// many bilinear samples as a pixel covers pixels of the photo where it shrinks. Pixels without a source are
/// black. Returns a plain copy where nothing changes. Takes no memory but the result; the same bytes for any
/// number of threads. Positions are not rounded to 1/32 pixel, as those of OpenCV's remap are, nor is the
/// size limited to 32767 pixels.
/// @throws InputError when the photo's size is not the camera's
Image<Rgb8> undistort(ImageView<const Rgb8> photo, const Camera& camera, const Pinhole& target);

}  // namespace recon
