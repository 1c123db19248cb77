#pragma once

#include <cmath>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The depth map of a view with the data to compare it with others. Unknown is NaN.
struct DepthView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const float> depth;       ///< z, scene units
  ImageView<const Vec3f> normal;      ///< unit, camera frame
  ImageView<const float> confidence;  ///< [0, 1]
};

/// Criteria for the agreement of another view with a depth: relative depth, not reprojection distance, as a
/// threshold in pixels would reject the widest and best baselines.
struct ConsistencyOptions {
  float max_relative_depth = 0.01f;  ///< |z_predicted / z_found - 1| in the other view
  float max_angle_degrees = 60.0f;   ///< angle between the two normals, if both are known
  int min_views = 1;                 ///< other views that must agree
  /// Of a depth where no other view has one; 1: none is kept.
  float min_lone_confidence = 1.0f;
};

/// Whether the depth `found` in a map agrees with the depth of a point within `max_relative_depth`; an
/// unknown one does not.
inline bool depths_agree(double predicted, float found, const ConsistencyOptions& options) {
  return std::abs(predicted - found) <= static_cast<double>(options.max_relative_depth) * found;
}

/// Whether a depth that no other view confirms or contradicts is kept.
inline bool keeps_lone_depth(float confidence, const ConsistencyOptions& options) {
  return options.min_lone_confidence < 1 && confidence >= options.min_lone_confidence;
}

/// Whether the angle between two world normals is within the given cosine; an unknown normal agrees with all.
inline bool normals_agree(Vec3d a, Vec3d b, double min_cosine) {
  const double cosine = dot(a, b);
  return std::isnan(cosine) || cosine >= min_cosine;
}

inline double min_cosine(const ConsistencyOptions& options) {
  constexpr double kRadiansPerDegree = 0.017453292519943295;
  return std::cos(static_cast<double>(options.max_angle_degrees) * kRadiansPerDegree);
}

}  // namespace recon
