#pragma once

#include "core/image.hpp"
#include "scene/camera.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The pinhole camera of the undistorted image of `camera`: for a pinhole the camera itself, otherwise the
/// same focal lengths and the largest (at most original-sized) frame whose pixels all project into `camera`,
/// bounded for wide fisheye lenses. Scaled down so that no side is longer than `max_size` pixels (0: no
/// limit).
/// @throws InputError when no part of the image can be undistorted
Pinhole undistorted_camera(const Camera& camera, int max_size = 0);

/// Whether a photo of `camera` is its own undistorted image for `target`: the cameras are equal.
bool is_own_image(const Camera& camera, const Pinhole& target);

/// Undistorts a photo of `camera` into `target` by bilinear sampling, averaged over the photo pixels that a
/// pixel covers where the image shrinks. Pixels outside the photo are black. Returns a copy if the cameras
/// are equal. Allocates only the result; the same bytes for any number of threads. Unlike OpenCV's remap,
/// positions are not rounded to 1/32 pixel, and the size is not limited to 32767 pixels.
/// @param photo  of the camera's size
Image<Rgb8> undistort(ImageView<const Rgb8> photo, const Camera& camera, const Pinhole& target);

/// The same for a face of a wide photo. @param face_from_photo  rotation of camera coordinates
Image<Rgb8> undistort_face(ImageView<const Rgb8> photo, const Camera& camera, const Pinhole& target,
                           const Mat3d& face_from_photo);

/// Undistorts a mask of `camera` (0 = ignored) as `undistort` does its photo. A pixel is 0 where ignored
/// pixels of the photo count for the colour of any of its samples, else 255.
/// @param mask  of the camera's size
Image<std::uint8_t> undistort_mask(ImageView<const std::uint8_t> mask, const Camera& camera,
                                   const Pinhole& target);

/// The same for a face of a wide photo; pixels that the photo does not show are 0 as well.
/// @param mask  of the camera's size, or empty: nothing is ignored
Image<std::uint8_t> undistort_face_mask(ImageView<const std::uint8_t> mask, const Camera& camera,
                                        const Pinhole& target, const Mat3d& face_from_photo);

/// Undistorts a map of values of a photo of `camera`, as `undistort` does its pixels: bilinear, averaged over
/// the samples of a pixel that do not meet unknown values (NaN); NaN where there are none.
/// @param values           of the whole photo, in any size
/// @param face_from_photo  of a face of a wide photo, else null
Image<float> undistort_values(ImageView<const float> values, const Camera& camera, const Pinhole& target,
                              const Mat3d* face_from_photo);

}  // namespace recon
