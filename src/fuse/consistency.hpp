#pragma once

#include <algorithm>
#include <cmath>

#include "core/hd.hpp"
#include "core/vec.hpp"

namespace recon {

/// Criteria for the agreement of another view with a depth: relative depth, not reprojection distance, as a
/// threshold in pixels would reject the widest and best baselines.
struct ConsistencyOptions {
  float max_relative_depth = 0.01f;  ///< |z_predicted / z_found - 1| in the other view
  float max_angle_degrees = 60.0f;   ///< angle between the two normals, if both are known
  int min_views = 1;                 ///< other views that must agree
  /// Of a depth where no other view has one; 1: none is kept.
  float min_lone_confidence = 1.0f;
  bool angle_follows_noise = false;  ///< allows larger angles between noisy normals, see min_cosine
};

/// Whether a depth that no other view confirms or contradicts is kept.
RECON_HD bool keeps_lone_depth(float confidence, const ConsistencyOptions& options) {
  return options.min_lone_confidence < 1 && confidence >= options.min_lone_confidence;
}

/// Whether the angle between two world normals is within the given cosine; an unknown normal agrees with all.
RECON_HD bool normals_agree(Vec3d a, Vec3d b, double min_cosine) {
  const double cosine = dot(a, b);
  return !(cosine < min_cosine);
}

/// The cosine of the max angle between the normals of two views.
/// @param normal_noise  the larger one of the two, see recon::normal_noise
inline double min_cosine(const ConsistencyOptions& options, float normal_noise) {
  constexpr double kRadiansPerDegree = 0.017453292519943295;
  constexpr float kAnglePerNoise = 8.5f, kMaxNoisyAngle = 90;
  float angle = options.max_angle_degrees;
  if (options.angle_follows_noise)
    angle = std::max(angle, std::min(kAnglePerNoise * normal_noise, kMaxNoisyAngle));
  return std::cos(static_cast<double>(angle) * kRadiansPerDegree);
}

}  // namespace recon
