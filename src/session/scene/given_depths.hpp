#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// Depth maps of others, of some views of a plan.
struct GivenDepths {
  const ScenePlan& plan;
  std::vector<int> views;  ///< that may be compared with their sources
  std::function<bool(int view)> has;
  /// The map of a view that has one, in the shape of its image and any resolution. @throws InputError where
  /// it cannot be read
  std::function<Image<float>(int view)> read;
  /// The sparse points, in the world, that each of some views sees; none: not known.
  std::function<std::vector<std::vector<Vec3d>>(const std::vector<int>& views)> points;
  std::string points_name;  ///< for people
  std::function<std::string(double scale)>
      advice;  ///< what to do with depths that are so many times too deep
};

/// Compares the depths of some views with the sparse points that these see, or without points with each
/// other: whether they are z along the viewing axis in scene units. A map that cannot be read is passed over.
/// Deterministic.
/// @returns what seems wrong, with the likely cause, for people
/// @throws Interrupted
std::vector<std::string> doubts_of(const GivenDepths& depths);

}  // namespace recon
