#pragma once

#include <cstddef>
#include <span>

#include "core/image.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// A place where a depth map has a value and the depth of the same surface is known.
struct DepthSample {
  double value = 1;  ///< of the map, > 0
  double depth = 1;  ///< known, > 0
  double ray = 1;    ///< length of the ray of depth 1 through the place, >= 1
};

/// What the values of a map are of the depths z along the viewing axis, with a scale and a shift.
enum class DepthMeaning {
  kDepth,           ///< scale z
  kDistance,        ///< scale z times the length of the ray: distances to the centre of the camera
  kShiftedDepth,    ///< scale z + shift
  kShiftedInverse,  ///< 1 / (scale / z + shift): depths from disparities that lack a shift
  kDisparity        ///< scale / z + shift
};

/// What a depth map is, by comparison.
struct DepthVerdict {
  std::size_t samples = 0;  ///< that were compared
  bool judged = false;      ///< they are enough; else nothing is said
  DepthMeaning meaning = DepthMeaning::kDepth;
  double scale = 1;          ///< 1 where their unit is right, and where `unrelated`
  double ratio = 1;          ///< the median of value / depth
  bool unrelated = false;    ///< it has no depths, or is of another image
  double agreeing = 0;       ///< the share that agrees with what is said here, ...
  double as_given = 0;       ///< ... with nothing wrong ...
  double by_chance = 0;      ///< ... and with the depths of other places
  double scatter = 0;        ///< median difference of the logarithms from `ratio`
  double other_scatter = 0;  ///< the same by chance

  bool right() const { return scale == 1 && meaning == DepthMeaning::kDepth && !unrelated; }
};

/// Compares values of depth maps with known depths. Limits follow the scatter of the values: the median ratio
/// is the scale, where it is further from 1; distances grow with the length of the ray; another meaning has
/// to fit much better than depths; values that scatter as those of other places do are unrelated. Doubtful
/// cases count as right: few samples, noise, narrow lenses. Deterministic.
/// @param min_scale  smallest difference of the logarithm of another scale
DepthVerdict judge_depths(std::span<const DepthSample> samples, double min_scale);

/// How the pixels of a map are arranged.
enum class MapLayout { kUpright, kMirrored, kUpsideDown, kTurned };

/// The value of a map of any resolution at a pixel of its camera's image, which has to contain it.
float depth_at(const Image<float>& map, const Pinhole& camera, Vec2d pixel,
               MapLayout layout = MapLayout::kUpright);

}  // namespace recon
