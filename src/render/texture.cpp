#include <algorithm>
#include <cmath>

#include "render/hash.hpp"
#include "render/scene_description.hpp"

namespace recon {
namespace {

/// Standard deviation of `value_noise` over space, to two digits.
constexpr double kNoiseDeviation = 0.18;

/// Hash of a lattice point of the noise, in 32 bits for speed: eight are needed per octave and ray.
std::uint32_t lattice_hash(std::int32_t x, std::int32_t y, std::int32_t z, std::uint32_t seed) {
  std::uint32_t h = seed ^ (static_cast<std::uint32_t>(x) * 0x8DA6B343u) ^
                    (static_cast<std::uint32_t>(y) * 0xD8163841u) ^
                    (static_cast<std::uint32_t>(z) * 0xCB1AB31Fu);
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}

double smooth(double t) {
  return t * t * (3 - 2 * t);
}

/// The largest integer <= x, without a function call as in std::floor.
std::int32_t floored(double x) {
  const auto truncated = static_cast<std::int32_t>(x);
  return truncated - (x < truncated ? 1 : 0);
}

/// Value noise: random values in [-0.5, 0.5) at integer coordinates, smoothly interpolated.
double value_noise(Vec3d p, std::uint32_t seed) {
  const std::int32_t x = floored(p.x), y = floored(p.y), z = floored(p.z);
  const double u = smooth(p.x - x), v = smooth(p.y - y), w = smooth(p.z - z);
  const auto along_x = [&](int dy, int dz) {
    const double a = lattice_hash(x, y + dy, z + dz, seed), b = lattice_hash(x + 1, y + dy, z + dz, seed);
    return a + u * (b - a);
  };
  const double near = along_x(0, 0) + v * (along_x(1, 0) - along_x(0, 0));
  const double far = along_x(0, 1) + v * (along_x(1, 1) - along_x(0, 1));
  return (near + w * (far - near)) * 0x1p-32 - 0.5;
}

/// Sum of octaves; unit standard deviation if none is omitted.
double fractal_noise(const SurfaceTexture& texture, Vec3d x, double footprint, std::uint32_t seed) {
  // Each octave is rotated relative to the previous one; otherwise the lattices would align with each other
  // and with the faces of boxes.
  static constexpr Mat3d kTurn{{0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6}};
  double sum = 0, power = 0, amplitude = 1, cell = texture.grain;
  Vec3d p = kTurn * (1 / cell * x) + Vec3d{0.37, 0.71, 0.13};
  for (int octave = 0; octave < texture.octaves; ++octave) {
    const double weight = std::clamp(cell / footprint - 1, 0.0, 1.0);
    if (weight > 0) sum += weight * amplitude * value_noise(p, seed + static_cast<std::uint32_t>(octave));
    power += amplitude * amplitude;
    amplitude *= texture.persistence;
    cell *= 0.5;
    p = 2.0 * (kTurn * p) + Vec3d{0.31, 0.17, 0.59};
  }
  return sum / (kNoiseDeviation * std::sqrt(power));
}

Vec3d mixed(Vec3d a, Vec3d b, double t) {
  return a + t * (b - a);
}

Vec3d bricks(const SurfaceTexture& texture, Vec2d uv) {
  const double v = uv.y / (0.4 * texture.size), row = std::floor(v);
  const double u = uv.x / texture.size + 0.5 * std::fmod(std::abs(row), 2.0), column = std::floor(u);
  const double joint = 0.04;  // half the joint width, in brick lengths
  if (u - column < joint || u - column > 1 - joint || v - row < joint / 0.4 || v - row > 1 - joint / 0.4)
    return texture.second_colour;
  const double shade =
      uniform_of(hash_of(texture.seed, static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)));
  return (0.7 + 0.5 * shade) * texture.colour;
}

Vec3d pattern_colour(const SurfaceTexture& texture, Vec3d x, Vec2d uv, double footprint) {
  switch (texture.pattern) {
    case Pattern::kPlain:
      return texture.colour;
    case Pattern::kMarble:
      return mixed(
          texture.colour, texture.second_colour,
          std::clamp(0.5 + 0.4 * fractal_noise(texture, x, footprint, texture.seed + 7919u), 0.0, 1.0));
    case Pattern::kChecker: {
      const auto cell = static_cast<std::int64_t>(std::floor(uv.x / texture.size)) +
                        static_cast<std::int64_t>(std::floor(uv.y / texture.size));
      return cell % 2 == 0 ? texture.colour : texture.second_colour;
    }
    case Pattern::kBricks:
      return bricks(texture, uv);
    case Pattern::kStripes: {
      const double u = uv.x / texture.size;
      return u - std::floor(u) < 0.5 ? texture.colour : texture.second_colour;
    }
  }
  return texture.colour;
}

}  // namespace

Vec3d reflectance(const SurfaceTexture& texture, Vec3d x_in_object, Vec2d uv, double footprint) {
  Vec3d colour = pattern_colour(texture, x_in_object, uv, footprint);
  if (texture.contrast > 0)
    colour = (1 + texture.contrast * fractal_noise(texture, x_in_object, footprint, texture.seed)) * colour;
  return {std::clamp(colour.x, 0.0, 1.0), std::clamp(colour.y, 0.0, 1.0), std::clamp(colour.z, 0.0, 1.0)};
}

bool has_detail(const SurfaceTexture& texture) {
  return texture.pattern != Pattern::kPlain || texture.contrast > 0;
}

}  // namespace recon
