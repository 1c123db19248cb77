#pragma once

#include <vector>

#include "core/vec.hpp"

namespace recon {

/// A plane in world coordinates: dot(normal, x) = offset.
struct WorldPlane {
  Vec3d normal{};  ///< unit, on the side from which it is seen
  double offset = 0;
};

/// A checked depth as a point in space.
struct SurfacePoint {
  Vec3f position;  ///< world
  Vec3f normal;    ///< unit, world, towards its view
  float depth;     ///< z in its view, scene units: distances to planes are relative to it
};

/// The most planes that can be asked for: areas have their numbers in 8 bits.
inline constexpr int kMaxScenePlanes = 254;

/// Criteria for the planes of a scene.
struct ScenePlaneOptions {
  int max_planes = 40;
  double max_distance = 0.008;  ///< of a point on a plane, relative to its depth
  double min_cosine = 0.94;     ///< between the normals of a point and its plane
  double min_share = 0.004;     ///< of all points, on a plane
};

/// The planes on which most of the points lie, the largest first, found one after the other: planes through
/// single points are ranked by the points of a sample that lie on them, the best are fitted to these, and the
/// points of the plane that has most are removed. The same for any number of threads.
/// Source: M. Fischler, R. Bolles, Random Sample Consensus, CACM 1981, with a fixed sequence and oriented
/// points; weights of J. Tukey's biweight in the fits.
std::vector<WorldPlane> find_scene_planes(std::vector<SurfacePoint> points,
                                          const ScenePlaneOptions& options = {});

}  // namespace recon
