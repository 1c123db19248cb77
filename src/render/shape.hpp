#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/vec.hpp"

namespace recon {

/// Surfaces in object coordinates, in scene units. All are visible from both sides.

/// The rectangle |x| <= half_width, |y| <= half_height at z = 0.
struct Quad {
  double half_width = 1, half_height = 1;
};

/// The six faces |x| = half_size.x, |y| = half_size.y, |z| = half_size.z. Seen from inside, it is a room.
struct Box {
  Vec3d half_size{1, 1, 1};
};

struct Sphere {
  double radius = 1;
};

/// A closed cylinder around the z axis, |z| <= half_height.
struct Cylinder {
  double radius = 1, half_height = 1;
};

/// amplitude * sin(vector . (x, y) + phase)
struct Wave {
  double amplitude = 0.1;
  Vec2d vector{6.28, 0};  ///< radians per scene unit; its length is 2 pi / wavelength
  double phase = 0;       ///< radians
};

/// The wave in direction `direction`, measured from the x axis; angles in degrees.
Wave make_wave(double amplitude, double wavelength, double direction, double phase);

/// The surface z = sum of waves over |x| <= half_width, |y| <= half_height.
struct HeightField {
  double half_width = 1, half_height = 1;
  std::vector<Wave> waves;
};

using Shape = std::variant<Quad, Box, Sphere, Cylinder, HeightField>;

/// Intersection of a ray with a surface.
struct ShapeHit {
  double t;      ///< the point is origin + t direction
  Vec3d normal;  ///< unit length, on either side
  Vec2d uv;      ///< surface coordinates, scene units
};

/// The first intersection of a ray with a shape at t > t_min, if any. Exact up to rounding: closed forms, and
/// for height fields bracketed root finding to rounding precision.
/// @param direction  unit length, in object coordinates as `origin`
std::optional<ShapeHit> intersect(const Shape& shape, Vec3d origin, Vec3d direction, double t_min);

/// Radius of a bounding sphere around the shape's origin.
double bounding_radius(const Shape& shape);

}  // namespace recon
