#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A view whose areas get planes, or that of another one that says what it sees of them; small images of the
/// same size.
struct PlaneView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const float> depth;  ///< z that the check across views confirms; NaN: unknown
  ImageView<const std::uint8_t> grey;
  ImageView<const std::uint8_t> sky = {};  ///< 1: sky; empty: none
};

/// Labels of pixels: that of a plane is its index plus 1; what has no surface is sky, or seen before one.
inline constexpr std::uint8_t kUnlabelled = 0, kNoSurface = 255;

/// Gives the areas of a view that its photo does not divide the planes of the scene on which they lie, as far
/// as their depths are unknown. A plane needs votes: the known depths of the area and those of other views
/// that lie on it, less those that see through it; and the photos must not contradict it: where they have
/// texture, windows match along the plane, and along no other plane better.
///
/// @param normals  of the known depths of `reference`, camera frame
/// @param colours  its image
/// @param planes   of the scene, at most 254
/// @return the labels of the pixels that a plane fills, and kNoSurface where `reference` sees sky
Image<std::uint8_t> label_areas(const PlaneView& reference, ImageView<const Vec3f> normals,
                                ImageView<const Rgb8> colours, const std::vector<PlaneView>& sources,
                                const std::vector<WorldPlane>& planes);

}  // namespace recon
