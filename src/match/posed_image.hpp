#pragma once

#include <array>
#include <cstdint>

#include "core/image.hpp"
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
};

}  // namespace recon
