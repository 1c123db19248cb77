#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/image.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// A place where a depth map has a depth and another depth of the same surface is known.
struct DepthSample {
  double ratio = 1;  ///< the map's depth divided by the known one, > 0
  double ray = 1;    ///< length of the ray of depth 1 through the place, >= 1
};

/// What depth maps are, by comparison.
struct DepthVerdict {
  std::size_t samples = 0;  ///< that were compared; too few say nothing
  double scale = 1;         ///< the maps are so many times too deep; 1: their unit is right
  bool distances = false;   ///< they hold distances to the centre of the camera, not depths along the axis
  bool unrelated =
      false;            ///< they are no depths, or of other images: their ratios differ from place to place
  double agreeing = 0;  ///< the share that agrees with scale and distances as said here ...
  double agreeing_as_given = 0;  ///< ... and as if nothing were wrong

  bool right() const { return scale == 1 && !distances && !unrelated; }
};

/// Compares depths with those of sparse points that the views see. The median ratio is the scale, where most
/// samples have it; distances grow with the length of the ray. Doubtful cases count as right: few samples,
/// noise, narrow lenses. Deterministic.
DepthVerdict judge_depths(std::span<const DepthSample> samples);

/// A view with a depth map of any resolution.
struct ComparedView {
  Pinhole camera;
  Pose cam_from_world;
  Image<float> depth;  ///< in the shape of the camera's image; NaN: unknown
};

/// The depth of a map of any resolution at a pixel of its camera's image, which has to contain it.
float depth_at(const Image<float>& map, const Pinhole& camera, Vec2d pixel);

/// Compares the depths of pairs of views (indices of `views`) with each other: whether they agree as they
/// are, times another scale between 1e-4 and 1e4, or as distances. Views that agree under many scales, as
/// without a baseline, are right. Deterministic.
DepthVerdict judge_depth_views(std::span<const ComparedView> views,
                               std::span<const std::pair<int, int>> pairs);

}  // namespace recon
