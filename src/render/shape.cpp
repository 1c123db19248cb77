#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/hypotenuse.hpp"
#include "render/scene_description.hpp"

namespace recon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTwoPi = 2 * std::numbers::pi;

/// The interval of a ray within |x_i| <= half_i for the first `axes` axes.
struct Slab {
  double enter = -kInfinity, leave = kInfinity;
  int enter_axis = 0, leave_axis = 0;
};

Slab clip(Vec3d origin, Vec3d direction, Vec3d half) {
  const double o[3]{origin.x, origin.y, origin.z}, d[3]{direction.x, direction.y, direction.z},
      h[3]{half.x, half.y, half.z};
  Slab slab;
  for (int axis = 0; axis < 3; ++axis) {
    if (d[axis] == 0) {
      if (std::abs(o[axis]) > h[axis]) return {kInfinity, -kInfinity, 0, 0};
      continue;
    }
    double a = (-h[axis] - o[axis]) / d[axis], b = (h[axis] - o[axis]) / d[axis];
    if (a > b) std::swap(a, b);
    if (a > slab.enter) slab.enter = a, slab.enter_axis = axis;
    if (b < slab.leave) slab.leave = b, slab.leave_axis = axis;
  }
  return slab;
}

std::optional<ShapeHit> hit(const Quad& quad, Vec3d o, Vec3d d, double t_min) {
  if (d.z == 0) return std::nullopt;
  const double t = -o.z / d.z, x = o.x + t * d.x, y = o.y + t * d.y;
  if (!(t > t_min && std::abs(x) <= quad.half_width && std::abs(y) <= quad.half_height)) return std::nullopt;
  return ShapeHit{t, {0, 0, 1}, {x, y}};
}

std::optional<ShapeHit> hit(const Box& box, Vec3d o, Vec3d d, double t_min) {
  const Slab slab = clip(o, d, box.half_size);
  if (slab.enter > slab.leave) return std::nullopt;
  const bool outside = slab.enter > t_min;
  const double t = outside ? slab.enter : slab.leave;
  if (!(t > t_min)) return std::nullopt;
  const Vec3d p = o + t * d;
  switch (outside ? slab.enter_axis : slab.leave_axis) {
    case 0:
      return ShapeHit{t, {1, 0, 0}, {p.y, p.z}};
    case 1:
      return ShapeHit{t, {0, 1, 0}, {p.x, p.z}};
    default:
      return ShapeHit{t, {0, 0, 1}, {p.x, p.y}};
  }
}

/// The roots of a t^2 + 2 b t + c, smaller first, without cancellation.
std::optional<std::pair<double, double>> roots(double a, double b, double c) {
  const double discriminant = b * b - a * c;
  if (!(discriminant >= 0) || a == 0) return std::nullopt;
  const double q = -(b + std::copysign(std::sqrt(discriminant), b));
  const double t0 = q / a, t1 = q != 0 ? c / q : t0;
  return std::minmax(t0, t1);
}

std::optional<ShapeHit> hit(const Sphere& sphere, Vec3d o, Vec3d d, double t_min) {
  const double radius = sphere.radius;
  const auto both = roots(dot(d, d), dot(o, d), dot(o, o) - radius * radius);
  if (!both) return std::nullopt;
  const double t = both->first > t_min ? both->first : both->second;
  if (!(t > t_min)) return std::nullopt;
  const Vec3d normal = normalized(o + t * d);
  return ShapeHit{
      t,
      normal,
      {radius * std::atan2(normal.y, normal.x), radius * std::asin(std::clamp(normal.z, -1.0, 1.0))}};
}

std::optional<ShapeHit> hit(const Cylinder& cylinder, Vec3d o, Vec3d d, double t_min) {
  const double radius = cylinder.radius, half = cylinder.half_height;
  std::optional<ShapeHit> best;
  const auto keep = [&](double t, Vec3d normal, Vec2d uv) {
    if (t > t_min && (!best || t < best->t)) best = ShapeHit{t, normal, uv};
  };
  if (const auto both =
          roots(d.x * d.x + d.y * d.y, o.x * d.x + o.y * d.y, o.x * o.x + o.y * o.y - radius * radius)) {
    for (const double t : {both->first, both->second}) {
      const Vec3d p = o + t * d;
      if (std::abs(p.z) <= half)
        keep(t, normalized(Vec3d{p.x, p.y, 0}), {radius * std::atan2(p.y, p.x), p.z});
    }
  }
  if (d.z != 0) {
    for (const double z : {-half, half}) {
      const double t = (z - o.z) / d.z;
      const Vec3d p = o + t * d;
      if (p.x * p.x + p.y * p.y <= radius * radius) keep(t, {0, 0, 1}, {p.x, p.y});
    }
  }
  return best;
}

double wave_argument(const Wave& wave, Vec3d p) {
  return wave.vector.x * p.x + wave.vector.y * p.y + wave.phase;
}

/// The root of `f` between a and b: false position with the Illinois rule (Dowell and Jarratt 1971), to
/// rounding precision.
template <class Function>
double root_between(const Function& f, double a, double fa, double b, double fb) {
  constexpr int kMostSteps = 100;
  for (int i = 0; i < kMostSteps && fb != 0; ++i) {
    const double root = b - fb * (b - a) / (fb - fa);
    if (!(std::min(a, b) < root && root < std::max(a, b))) break;
    const double value = f(root);
    if ((value > 0) != (fb > 0)) {
      a = b;
      fa = fb;
    } else {
      fa *= 0.5;  // the same end was kept twice: halve its weight
    }
    b = root;
    fb = value;
  }
  return b;
}

std::optional<ShapeHit> hit(const HeightField& field, Vec3d o, Vec3d d, double t_min) {
  double height_bound = 0, slope_bound = 0, highest = 0;
  for (const Wave& wave : field.waves) {
    const double frequency = hypotenuse(wave.vector.x, wave.vector.y);
    height_bound += std::abs(wave.amplitude);
    slope_bound += std::abs(wave.amplitude) * frequency;
    highest = std::max(highest, frequency);
  }
  const Slab slab = clip(o, d, {field.half_width, field.half_height, height_bound});
  double t = std::max(slab.enter, t_min);
  if (!(t <= slab.leave)) return std::nullopt;

  const auto above = [&](double at) {  // height of the ray above the surface
    const Vec3d p = o + at * d;
    double z = p.z;
    for (const Wave& wave : field.waves) z -= wave.amplitude * std::sin(wave_argument(wave, p));
    return z;
  };
  // `above` changes by at most `rate` per unit of t, so a step of |above| / rate cannot cross the surface.
  // Steps have a min size; if one crosses the surface, the root is in between. Thinner dents are not
  // resolved.
  const double rate = std::abs(d.z) + hypotenuse(d.x, d.y) * slope_bound;
  const double least = 1e-4 * std::min(kTwoPi / highest, field.half_width + field.half_height);
  const double first = above(t);
  double before = t, value_before = first, value = first;
  while ((value > 0) == (first > 0)) {
    if (t >= slab.leave) return std::nullopt;
    before = t;
    value_before = value;
    t = std::min(t + std::max(std::abs(value) / rate, least), slab.leave);
    value = above(t);
  }
  t = root_between(above, before, value_before, t, value);

  const Vec3d p = o + t * d;
  Vec3d normal{0, 0, 1};
  for (const Wave& wave : field.waves) {
    const double slope = wave.amplitude * std::cos(wave_argument(wave, p));
    normal = normal - Vec3d{slope * wave.vector.x, slope * wave.vector.y, 0};
  }
  return ShapeHit{t, normalized(normal), {p.x, p.y}};
}

struct BoundingRadius {
  double operator()(const Quad& s) const { return hypotenuse(s.half_width, s.half_height); }
  double operator()(const Box& s) const { return norm(s.half_size); }
  double operator()(const Sphere& s) const { return s.radius; }
  double operator()(const Cylinder& s) const { return hypotenuse(s.radius, s.half_height); }
  double operator()(const HeightField& s) const {
    double height = 0;
    for (const Wave& wave : s.waves) height += std::abs(wave.amplitude);
    return std::hypot(s.half_width, s.half_height, height);
  }
};

}  // namespace

Wave make_wave(double amplitude, double wavelength, double direction, double phase) {
  const double frequency = kTwoPi / wavelength;
  return {amplitude,
          {frequency * std::cos(kRadians * direction), frequency * std::sin(kRadians * direction)},
          kRadians * phase};
}

std::optional<ShapeHit> intersect(const Shape& shape, Vec3d origin, Vec3d direction, double t_min) {
  return std::visit([&](const auto& s) { return hit(s, origin, direction, t_min); }, shape);
}

double bounding_radius(const Shape& shape) {
  return std::visit(BoundingRadius{}, shape);
}

}  // namespace recon
