#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A small grey image of a view.
struct SmallView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const std::uint8_t> pixels;
  ImageView<const std::uint8_t> mask = {};  ///< 0 where pixels are ignored; empty: nowhere
};

/// The factor by which an image is made smaller for `match_corners`: its longer side becomes 400 pixels or
/// less, about.
int small_view_factor(int width, int height);

/// Means of blocks of factor x factor pixels; what is left over at the right and below is cut off.
Image<std::uint8_t> averaged(ImageView<const std::uint8_t> image, int factor);

/// The camera of an image that `averaged` has made.
Pinhole averaged(const Pinhole& camera, int factor);

/// The pixel of a view whose neighbourhood is least like its shifted self (Shi & Tomasi 1994), in each cell
/// of a grid of 20 columns or rows, where it is clear enough: pixel coordinates, row by row. Ignored pixels
/// are none.
std::vector<Vec2d> find_corners(const SmallView& view);

/// A point that two views have in common.
struct CornerMatch {
  Vec2d in_reference, in_source;  ///< pixel coordinates; those of the source to a fraction of a pixel
};

/// The distance from the epipolar line up to which corners are matched, as a share of the longer side.
inline constexpr double kEpipolarBand = 0.0375;

/// Matches corners whose windows, warped as planes in front of the reference, have the best ZNCC for each
/// other of all within a band around their epipolar lines. In the band no place is preferred, so that the
/// distances from the line tell how well cameras and poses fit. Nothing for views of one centre.
/// Deterministic.
std::vector<CornerMatch> match_corners(const SmallView& reference, const std::vector<Vec2d>& corners,
                                       const SmallView& source, const std::vector<Vec2d>& source_corners);

}  // namespace recon
