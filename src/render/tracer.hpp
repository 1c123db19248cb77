#pragma once

#include <optional>
#include <vector>

#include "render/object_tree.hpp"
#include "render/scene_description.hpp"

namespace recon {

/// Intersection of a ray with the scene, in world coordinates.
struct SurfaceHit {
  double t;  ///< distance from the origin of the ray, scene units
  Vec3d position;
  Vec3d normal;  ///< unit length, facing the origin of the ray
  Vec3d x_in_object;
  Vec2d uv;    ///< surface coordinates
  int object;  ///< index into the objects of the description
};

/// Casts rays into the objects of a description, which must outlive it. Thread-safe.
class Tracer {
 public:
  explicit Tracer(const SceneDescription& description);

  /// The first intersection of a ray; that of the first of several objects at the same distance.
  /// @param direction  of unit length
  std::optional<SurfaceHit> cast(Vec3d origin, Vec3d direction) const;

  /// Diffuse (Lambertian) radiance of a surface, each channel 0 to 1.
  /// @param footprint  footprint of the ray at the surface, scene units
  Vec3d radiance(const SurfaceHit& hit, double footprint) const;

  /// Whether the segment from `eye` to a point on a surface is unoccluded.
  bool sees(Vec3d eye, Vec3d place) const;

 private:
  struct Placed {
    Pose object_from_world;
    ObjectBounds bounds;  ///< in the world
  };

  const SceneDescription& description_;
  std::vector<Placed> placed_;
  ObjectTree tree_;
};

}  // namespace recon
