#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// Surfaces in their own coordinates, in scene units. All are seen from both sides.

/// The rectangle |x| <= half_width, |y| <= half_height at z = 0.
struct Quad {
  double half_width = 1, half_height = 1;
};

/// The six faces |x| = half_size.x, |y| = half_size.y, |z| = half_size.z. Seen from inside it is a room.
struct Box {
  Vec3d half_size{1, 1, 1};
};

struct Sphere {
  double radius = 1;
};

/// A closed cylinder about the z axis, |z| <= half_height.
struct Cylinder {
  double radius = 1, half_height = 1;
};

/// amplitude * sin(vector . (x, y) + phase)
struct Wave {
  double amplitude = 0.1;
  Vec2d vector{6.28, 0};  ///< radians per scene unit; its length is 2 pi / wavelength
  double phase = 0;       ///< radians
};

/// The wave that runs in the direction `direction`, counted from the x axis, angles in degrees.
Wave make_wave(double amplitude, double wavelength, double direction, double phase);

/// The surface z = sum of waves over |x| <= half_width, |y| <= half_height.
struct HeightField {
  double half_width = 1, half_height = 1;
  std::vector<Wave> waves;
};

using Shape = std::variant<Quad, Box, Sphere, Cylinder, HeightField>;

/// Where a ray meets a surface.
struct ShapeHit {
  double t;      ///< the place is origin + t direction
  Vec3d normal;  ///< of unit length, to either side
  Vec2d uv;      ///< place on the surface, scene units
};

/// The first place with t > t_min where a ray meets a shape, if there is one. Exact up to rounding: closed
/// forms, and for height fields a bracket of the root that shrinks until rounding ends it.
/// @param direction  of unit length, object coordinates as `origin`
std::optional<ShapeHit> intersect(const Shape& shape, Vec3d origin, Vec3d direction, double t_min);

/// Radius of a sphere about the shape's origin that holds the shape.
double bounding_radius(const Shape& shape);

}  // namespace recon
