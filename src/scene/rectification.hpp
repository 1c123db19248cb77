#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/image.hpp"
#include "scene/depth_range.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// Two virtual cameras at the centres of a reference view and of a source, rotated so that every point in
/// front of them has the same row in both images. The reference is always the left one: the x axis points
/// from its centre to that of the source, so images are rotated by 180 degrees for a source on the left, and
/// by 90 degrees for a source above or below. A point at depth z along the common axis has the disparity
/// d = x_left - x_right = f b / z + (c_left - c_right).
struct RectifiedPair {
  Pinhole left, right;  ///< same size, focal length (fx = fy) and cy; only cx differs
  Mat3d left_from_reference = identity<double>();
  Mat3d right_from_source = identity<double>();
  double baseline = 0;    ///< between the centres, scene units, > 0
  int min_disparity = 0;  ///< first disparity to be searched; may be negative
  int disparities = 0;    ///< number of disparities, >= 1

  /// The disparity at depth `z` > 0 along the common axis.
  double disparity(double z) const { return left.fx * baseline / z + (left.cx - right.cx); }
  /// The depth along the common axis; not positive if no point in front of the cameras has this disparity.
  double depth(double disparity) const { return left.fx * baseline / (disparity - (left.cx - right.cx)); }
};

/// Max size of a rectified pair; above it, the resolution is lowered.
struct RectifyLimits {
  int max_side = 16384;                           ///< of an image, pixels
  int max_disparities = 4096;                     ///< to be searched
  std::size_t max_volume = std::size_t{1} << 30;  ///< pixels of an image times disparities
};

/// A rectified pair, or the reason why there is none.
struct Rectification {
  std::optional<RectifiedPair> pair;
  std::string refusal;  ///< empty if there is a pair
};

/// Rectifies a reference view with a source. The common axis is the mean of both optical axes, made
/// perpendicular to the baseline (A. Fusiello, E. Trucco, A. Verri, A compact algorithm for rectification of
/// stereo pairs, 2000, with a symmetric choice of the axis); the focal length keeps the pixel area at the
/// optical axis of the reference, unless `limits` require a smaller one. The images are cropped to the
/// overlap: pixels of the reference whose points at the depths of `range` the source sees, and the
/// projections of these points into the source; the disparities are those of these points. Rejected are views
/// with the same centre, views with the baseline along the viewing direction, and views without enough
/// overlap.
/// @param range  depths along the reference's axis, 0 < near < far
Rectification rectify(const Pinhole& reference, const Pose& reference_from_world, const Pinhole& source,
                      const Pose& source_from_world, const DepthRange& range,
                      const RectifyLimits& limits = {});

/// Warps the image of a view into a virtual camera at the same centre: bilinear samples of the image,
/// averaged over the image pixels that a pixel covers where the image shrinks; border pixels are repeated.
/// The same bytes for any number of threads.
/// @param image                has the size of `camera`
/// @param target_from_camera   the rotation between both
Image<std::uint8_t> rectified_image(ImageView<const std::uint8_t> image, const Pinhole& camera,
                                    const Mat3d& target_from_camera, const Pinhole& target);

}  // namespace recon
