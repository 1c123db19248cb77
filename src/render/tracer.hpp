#pragma once

#include <optional>
#include <vector>

#include "render/scene_description.hpp"

namespace recon {

/// Where a ray meets the scene, in world coordinates.
struct SurfaceHit {
  double t;  ///< distance from the origin of the ray, scene units
  Vec3d position;
  Vec3d normal;  ///< of unit length, towards the origin of the ray
  Vec3d x_in_object;
  Vec2d uv;    ///< place on the surface
  int object;  ///< index into the objects of the description
};

/// Casts rays into the objects of a description, which must outlive it. Thread-safe.
class Tracer {
 public:
  explicit Tracer(const SceneDescription& description);

  /// The first surface that a ray meets.
  /// @param direction  of unit length
  std::optional<SurfaceHit> cast(Vec3d origin, Vec3d direction) const;

  /// Light that a surface sends to everywhere (Lambert), each channel 0 to 1.
  /// @param footprint  extent of what the ray stands for at the surface, scene units
  Vec3d radiance(const SurfaceHit& hit, double footprint) const;

  /// Whether nothing stands between `eye` and a place on a surface.
  bool sees(Vec3d eye, Vec3d place) const;

 private:
  struct Placed {
    Pose object_from_world;
    Vec3d centre;  ///< in the world
    double radius;
  };

  bool lit(const SurfaceHit& hit) const;

  const SceneDescription& description_;
  std::vector<Placed> placed_;
};

}  // namespace recon
