#pragma once

#include <cstdint>

#include "core/vec.hpp"

namespace recon {

enum class Pattern {
  kPlain,    ///< `colour` everywhere
  kMarble,   ///< a mix of both colours that wanders with the noise
  kChecker,  ///< squares of both colours, `size` wide
  kBricks,   ///< bricks `size` long and 0.4 `size` high of `colour`, each of its own shade, joints of
             ///< `second_colour`
  kStripes,  ///< stripes along v, `size` from one `colour` to the next
};

/// What a surface looks like: a pattern in the surface's own coordinates (u, v), times noise in the object's
/// space. The noise is a sum of octaves of value noise, each half as large as the one before, and makes the
/// detail that stereo matching needs at any resolution: octaves too fine for a pixel fade out.
struct SurfaceTexture {
  Pattern pattern = Pattern::kPlain;
  Vec3d colour{0.6, 0.6, 0.6};         ///< reflectance of red, green and blue, 0 to 1
  Vec3d second_colour{0.3, 0.3, 0.3};  ///< of the pattern's other part
  double size = 0.2;                   ///< of the pattern, scene units, > 0
  double contrast = 0.3;      ///< standard deviation of the noise relative to the colour, >= 0; 0: no noise
  double grain = 0.2;         ///< size of the coarsest octave, scene units, > 0
  int octaves = 9;            ///< 1 to 20
  double persistence = 0.85;  ///< amplitude of an octave relative to the coarser one before it, > 0
  std::uint32_t seed = 0;
};

/// Reflectance of a texture, each channel in [0, 1].
/// @param x_in_object  the place in the object's coordinates, scene units
/// @param uv           the place in the surface's coordinates, scene units
/// @param footprint    extent of what one ray stands for there, scene units: octaves of at most this size are
/// left out
Vec3d reflectance(const SurfaceTexture& texture, Vec3d x_in_object, Vec2d uv, double footprint);

/// Whether something can be told apart on the surface: false for one plain colour without noise.
bool has_detail(const SurfaceTexture& texture);

}  // namespace recon
