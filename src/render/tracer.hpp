#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/vec.hpp"
#include "render/scene_description.hpp"

namespace recon {

/// The bounding sphere of an object.
struct ObjectBounds {
  Vec3d centre;
  double radius;
};

/// A tree of boxes around objects: the objects near a ray are found without testing every object. The
/// time of a ray grows with the logarithm of their number.
class ObjectTree {
 public:
  explicit ObjectTree(const std::vector<ObjectBounds>& objects);

  /// Calls meet(object, max) for the objects whose boxes the ray enters at a distance of at most `max`, in
  /// any order. It returns the new maximum, which is not greater.
  template <class Meet>
  void visit(Vec3d origin, Vec3d direction, const Meet& meet) const {
    if (!nodes_.empty()) visit(0, Ray(origin, direction), std::numeric_limits<double>::infinity(), meet);
  }

 private:
  struct Ray {
    Ray(Vec3d from, Vec3d direction);
    Vec3d origin, inverse;  ///< inverse: of the components of the direction
  };
  struct Box {
    Vec3d min, max;
    /// Where the ray enters; NaN where it passes.
    double entry(const Ray& ray) const;
  };
  /// A leaf has objects order_[begin .. end), another node the children `left` and `left` + 1.
  struct Node {
    Box box;
    int left = 0, begin = 0, end = 0;
  };

  Box box_of(int begin, int end) const;
  void divide(int node, int begin, int end);

  template <class Meet>
  double visit(int index, const Ray& ray, double max, const Meet& meet) const {
    const Node& node = nodes_[index];
    for (int i = node.begin; i < node.end; ++i) max = meet(order_[i], max);
    if (node.left == 0) return max;
    int first = node.left, second = node.left + 1;
    double near = nodes_[first].box.entry(ray), far = nodes_[second].box.entry(ray);
    if (far < near) std::swap(near, far), std::swap(first, second);
    if (near <= max) max = visit(first, ray, max, meet);
    if (far <= max) max = visit(second, ray, max, meet);
    return max;
  }

  std::vector<Box> boxes_;  ///< by object
  std::vector<int> order_;
  std::vector<Node> nodes_;
};

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
