#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// What the sources say of a depth, each at the pixel of its reprojection.
struct alignas(4) Agreement {
  std::uint8_t known = 0;    ///< sources with a depth there
  std::uint8_t agree = 0;    ///< of these, with the same depth and a similar normal
  std::uint8_t through = 0;  ///< with a larger depth: they see through the point
  std::uint8_t hidden = 0;   ///< with a smaller depth: something hides the point from them

  RECON_HD Agreement& operator+=(const Agreement& other) {
    known = static_cast<std::uint8_t>(known + other.known);
    agree = static_cast<std::uint8_t>(agree + other.agree);
    through = static_cast<std::uint8_t>(through + other.through);
    hidden = static_cast<std::uint8_t>(hidden + other.hidden);
    return *this;
  }
};

/// A reference view and a source whose depths are compared.
struct AgreementGeometry {
  Pinhole reference, source;
  Pose source_from_reference;
  double max_relative_depth;  ///< |z_predicted / z_found - 1| in the source
  double min_cosine;          ///< of the angle between the two normals
};

/// The maps of a source; rows are `pitch` elements apart.
struct SourcePixels {
  const float* depth;
  const Vec3f* normal;
  std::ptrdiff_t depth_pitch, normal_pitch;
};

/// What a source says of a pixel of the reference: each count 0 or 1. The rounding of every operation is part
/// of the definition.
/// @param depth, normal  of the reference at (x, y); unknown is NaN
RECON_HD Agreement agreement_step(const AgreementGeometry& geometry, int x, int y, float depth, Vec3f normal,
                                  const SourcePixels& source) {
  const Mat3d& rotation = geometry.source_from_reference.rotation;
  const Vec3d& offset = geometry.source_from_reference.translation;
  const Pinhole& camera = geometry.source;
  const double z = static_cast<double>(depth);
  const Vec3d ray = geometry.reference.ray(pixel_centre(x, y));
  const Vec3d point = rotation * Vec3d{z * ray.x, z * ray.y, z} + offset;
  const double u = camera.fx * point.x / point.z + camera.cx;
  const double v = camera.fy * point.y / point.z + camera.cy;
  if (!(point.z > 0 && u >= 0 && u < camera.width && v >= 0 && v < camera.height)) return {};
  const int column = static_cast<int>(u), row = static_cast<int>(v);
  const double found = static_cast<double>(source.depth[row * source.depth_pitch + column]);
  if (!(found == found)) return {};
  const double difference = point.z - found, limit = geometry.max_relative_depth * found;
  if ((difference < 0 ? -difference : difference) <= limit) {
    const Vec3f n = source.normal[row * source.normal_pitch + column];
    const auto wide = [](Vec3f a) {
      return Vec3d{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
    };
    // An unknown normal agrees with all.
    const bool differ = dot(rotation * wide(normal), wide(n)) < geometry.min_cosine;
    return {1, static_cast<std::uint8_t>(differ ? 0 : 1), 0, 0};
  }
  if (point.z < (1.0 - geometry.max_relative_depth) * found) return {1, 0, 1, 0};
  return {1, 0, 0, 1};
}

}  // namespace recon
