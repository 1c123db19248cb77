#pragma once

#include <cstdint>

#include "core/vec.hpp"

namespace recon {

enum class Pattern {
  kPlain,    ///< `colour` everywhere
  kMarble,   ///< a mix of both colours controlled by the noise
  kChecker,  ///< squares of both colours, `size` wide
  kBricks,   ///< bricks `size` long and 0.4 `size` high of `colour`, each with its own shade, joints of
             ///< `second_colour`
  kStripes,  ///< stripes along v with period `size`
};

/// Texture of a surface: a pattern in surface coordinates (u, v), multiplied by noise in object space. The
/// noise is a sum of octaves of value noise, each with half the size of the previous one, and gives detail
/// for stereo matching at any resolution: octaves too fine for a pixel fade out.
struct SurfaceTexture {
  Pattern pattern = Pattern::kPlain;
  Vec3d colour{0.6, 0.6, 0.6};         ///< reflectance of red, green and blue, 0 to 1
  Vec3d second_colour{0.3, 0.3, 0.3};  ///< second colour of the pattern
  double size = 0.2;                   ///< of the pattern, scene units, > 0
  double contrast = 0.3;      ///< standard deviation of the noise relative to the colour, >= 0; 0: no noise
  double grain = 0.2;         ///< size of the coarsest octave, scene units, > 0
  int octaves = 9;            ///< 1 to 20
  double persistence = 0.85;  ///< amplitude of an octave relative to the coarser one before it, > 0
  std::uint32_t seed = 0;
};

/// Reflectance of a texture, each channel in [0, 1].
/// @param x_in_object  the point in object coordinates, scene units
/// @param uv           the point in surface coordinates, scene units
/// @param footprint    footprint of one ray at the point, scene units: octaves of at most this size are
///                     omitted
Vec3d reflectance(const SurfaceTexture& texture, Vec3d x_in_object, Vec2d uv, double footprint);

/// Whether the surface has texture: false for a plain colour without noise.
bool has_detail(const SurfaceTexture& texture);

}  // namespace recon
