#pragma once

#include <array>
#include <cstdint>

#include "core/image.hpp"
#include "match/warp_step.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// Maximum image side of a sweep: sample positions are fixed-point numbers stored in floats.
inline constexpr int kMaxImageSide = 16384;

/// An undistorted image with its camera: one grey channel, or red, green and blue; each channel is 8-bit and
/// has the camera's size.
struct PosedImage {
  Pinhole camera;
  Pose cam_from_world;
  int channels = 1;
  std::array<ImageView<const std::uint8_t>, 3> channel{};
  /// Identifies the pixels within the process, so that a GPU may keep a copy of them; 0: it may not.
  std::uint64_t id = 0;
  bool on_device = false;  ///< whether the pixels are in the memory of the GPU that sweeps
};

/// An image of a camera without pixels, for its size only.
PosedImage sized_image(const Pinhole& camera, int channels);

/// The image of half the size, rounded up: means of 2 x 2 pixels, rounded half up; a last odd row or column
/// is repeated.
Image<std::uint8_t> halved(ImageView<const std::uint8_t> image);
/// Its camera.
Pinhole halved(const Pinhole& camera);

/// The warp from a reference view into a source view, computed in double precision and rounded once to float.
SourceWarp make_source_warp(const Pinhole& reference, const Pose& reference_from_world, const Pinhole& source,
                            const Pose& source_from_world);

/// `count` >= 2 planes between `near` and `far`, 0 < near < far.
PlaneSet make_plane_set(double near, double far, int count);

}  // namespace recon
