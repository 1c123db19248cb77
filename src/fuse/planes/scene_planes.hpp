#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// The part of a plane in which its points lie, a convex polygon of fixed directions with a margin. Beyond it
/// a plane is no surface: a facade ends where the sky begins.
class PlaneExtent {
 public:
  /// The whole plane.
  PlaneExtent() = default;

  /// Of points on a plane with this normal, but for a few at the rim.
  PlaneExtent(Vec3d normal, const std::vector<Vec3d>& points);

  bool contains(Vec3d point) const;

 private:
  static constexpr std::size_t kDirections = 8;
  struct Limits {
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
  };

  std::array<Vec3d, kDirections> directions_{};
  std::array<Limits, kDirections> limits_{};
};

/// A plane in world coordinates: dot(normal, x) = offset.
struct WorldPlane {
  Vec3d normal{};  ///< unit, on the side from which it is seen
  double offset = 0;
  PlaneExtent extent = {};
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
