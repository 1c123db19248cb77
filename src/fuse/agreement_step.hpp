#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.hpp"
#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// What the sources say of a depth, each at the pixel of its reprojection; at most 255 of them.
struct alignas(8) Agreement {
  std::uint8_t visible = 0;  ///< sources in whose image the point lies
  std::uint8_t known = 0;    ///< of these, with a depth there
  std::uint8_t agree = 0;    ///< of these, with the same depth and a similar normal
  std::uint8_t close = 0;    ///< of these, with a depth that differs by less than kCloseShare of the maximum
  std::uint8_t through = 0;  ///< of the known, with a larger depth: they see through the point
  std::uint8_t placed = 0;   ///< of those that agree, with a surface whose offset counts
  std::int16_t offset = 0;   ///< sum of their offset_steps

  RECON_HD Agreement& operator+=(const Agreement& other) {
    visible = static_cast<std::uint8_t>(visible + other.visible);
    known = static_cast<std::uint8_t>(known + other.known);
    agree = static_cast<std::uint8_t>(agree + other.agree);
    close = static_cast<std::uint8_t>(close + other.close);
    through = static_cast<std::uint8_t>(through + other.through);
    placed = static_cast<std::uint8_t>(placed + other.placed);
    offset = static_cast<std::int16_t>(offset + other.offset);
    return *this;
  }
};

/// Depths that agree by chance differ by anything up to the maximum, right ones by little.
constexpr double kCloseShare = 0.25;

/// Offsets up to this share of the max relative difference of depths count, in so many steps: larger ones are
/// of other surfaces as often.
constexpr double kOffsetShare = 0.5;
constexpr int kOffsetSteps = 127;

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

/// Where a view sees a point, and the depth that its map has there.
struct Reprojection {
  int x = -1, y = -1;    ///< pixel; -1 where the point is not visible
  Vec2d position{};      ///< the same, not rounded
  double predicted = 0;  ///< depth of the point, scene units
  float found = 0;       ///< NaN where there is none
};

/// The rounding of every operation is part of the definition.
/// @param depth  of the view; rows are `pitch` elements apart
RECON_HD Reprojection reprojection_step(const Pinhole& camera, const Pose& view_from_points, Vec3d point,
                                        const float* depth, std::ptrdiff_t pitch) {
  const Vec3d seen = view_from_points * point;
  const Vec2d pixel = camera.project(seen);
  if (!(seen.z > 0 && camera.contains(pixel))) return {-1, -1, {}, seen.z, kUnknown};
  const int x = static_cast<int>(pixel.x), y = static_cast<int>(pixel.y);
  return {x, y, pixel, seen.z, depth[y * pitch + x]};
}

/// Whether a depth found in a map agrees with the depth of a point; an unknown one does not.
RECON_HD bool depths_agree(double predicted, double found, double max_relative_depth) {
  const double difference = predicted - found;
  return (difference < 0 ? -difference : difference) <= max_relative_depth * found;
}

/// Whether a view that found this depth sees a surface behind the point.
RECON_HD bool sees_through(double predicted, double found, double max_relative_depth) {
  return predicted < (1.0 - max_relative_depth) * found;
}

/// How much farther the surface of a source lies on the ray of the reference, relative to the depth there:
/// the ray meets the plane of the source's pixel at (1 + offset) times its depth.
/// @param normal  of the source's pixel; NaN if it is unknown, and the result then too
RECON_HD double surface_offset(const AgreementGeometry& geometry, const Reprojection& seen, Vec3d normal) {
  const double along = seen.predicted * dot(normal, geometry.source.ray(seen.position));
  const double surface =
      static_cast<double>(seen.found) * dot(normal, geometry.source.ray(pixel_centre(seen.x, seen.y)));
  return (surface - along) / (along - dot(normal, geometry.source_from_reference.translation));
}

/// Whether an offset is known and counts.
RECON_HD bool is_placed(double offset, double max_offset) {
  return offset >= -max_offset && offset <= max_offset;
}

/// An offset in steps, rounded, half of a step away from 0.
RECON_HD int offset_steps(double offset, double max_offset) {
  const double steps = offset / max_offset * kOffsetSteps;
  return static_cast<int>(steps < 0 ? steps - 0.5 : steps + 0.5);
}

/// The mean of a depth and those of the surfaces of sources on its ray, see surface_offset.
RECON_HD float mean_depth(float depth, const Agreement& said, double max_relative_depth) {
  const double steps = static_cast<double>(said.offset) / (1 + said.placed);
  return static_cast<float>(static_cast<double>(depth) *
                            (1 + steps * (kOffsetShare * max_relative_depth / kOffsetSteps)));
}

/// What a source says of a pixel of the reference: each count 0 or 1.
/// @param depth, normal  of the reference at (x, y); unknown is NaN
RECON_HD Agreement agreement_step(const AgreementGeometry& geometry, int x, int y, float depth, Vec3f normal,
                                  const SourcePixels& source) {
  const double z = static_cast<double>(depth);
  const Vec3d ray = geometry.reference.ray(pixel_centre(x, y));
  const Reprojection seen =
      reprojection_step(geometry.source, geometry.source_from_reference, Vec3d{z * ray.x, z * ray.y, z},
                        source.depth, source.depth_pitch);
  const double found = static_cast<double>(seen.found);
  if (seen.x < 0) return {};
  if (!(found == found)) return {1};
  if (depths_agree(seen.predicted, found, geometry.max_relative_depth)) {
    const Vec3f n = source.normal[seen.y * source.normal_pitch + seen.x];
    // An unknown normal agrees with all.
    if (dot(geometry.source_from_reference.rotation * widened(normal), widened(n)) < geometry.min_cosine)
      return {1, 1};
    const bool close = depths_agree(seen.predicted, found, kCloseShare * geometry.max_relative_depth);
    Agreement said{1, 1, 1, static_cast<std::uint8_t>(close ? 1 : 0)};
    const double offset = surface_offset(geometry, seen, widened(n));
    const double max_offset = kOffsetShare * geometry.max_relative_depth;
    if (is_placed(offset, max_offset)) {
      said.placed = 1;
      said.offset = static_cast<std::int16_t>(offset_steps(offset, max_offset));
    }
    return said;
  }
  const bool through = sees_through(seen.predicted, found, geometry.max_relative_depth);
  return {1, 1, 0, 0, static_cast<std::uint8_t>(through ? 1 : 0)};
}

}  // namespace recon
