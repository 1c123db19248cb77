#pragma once

#include <cstddef>
#include <cstdint>

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

/// The factor by which an image is made smaller for `epipolar_score`: its longer side becomes 200 pixels or
/// less, about.
int small_view_factor(int width, int height);

/// Means of blocks of factor x factor pixels; what is left over at the right and below is cut off.
Image<std::uint8_t> averaged(ImageView<const std::uint8_t> image, int factor);

/// The camera of an image that `averaged` has made.
Pinhole averaged(const Pinhole& camera, int factor);

/// How often the best match of a pixel along its epipolar line is better than along lines beside it.
struct EpipolarScore {
  std::size_t tried = 0;
  std::size_t won = 0;

  double share() const { return tried > 0 ? static_cast<double>(won) / static_cast<double>(tried) : 0; }
  EpipolarScore& operator+=(const EpipolarScore& other) {
    tried += other.tried;
    won += other.won;
    return *this;
  }
};

/// About what is won by chance: one line of five.
inline constexpr double kEpipolarChance = 0.22;

/// Takes the pixel of most contrast in each cell of a grid on the reference, and searches the source for it:
/// along its epipolar line, and along four lines beside it, by ZNCC of windows that the planes in front of
/// the reference warp. With right cameras and poses most pixels win; with wrong ones, as many as by chance.
/// No depth needs to be known. Deterministic.
EpipolarScore epipolar_score(const SmallView& reference, const SmallView& source);

}  // namespace recon
