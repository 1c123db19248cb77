#pragma once

#include "core/vec.hpp"

namespace recon {

/// A rigid motion `target_from_source`: x_in_target = R x_in_source + t. As `cam_from_world`, x_in_cam = R
/// x_in_world + t.
struct Pose {
  Mat3d rotation = identity<double>();
  Vec3d translation{0, 0, 0};

  RECON_HD Vec3d operator*(Vec3d x_in_source) const { return rotation * x_in_source + translation; }
};

/// source_from_target of a target_from_source.
inline Pose inverse(const Pose& pose) {
  const Mat3d rt = transpose(pose.rotation);
  return {rt, -(rt * pose.translation)};
}

/// c_from_a = c_from_b * b_from_a.
inline Pose operator*(const Pose& c_from_b, const Pose& b_from_a) {
  return {c_from_b.rotation * b_from_a.rotation,
          c_from_b.rotation * b_from_a.translation + c_from_b.translation};
}

/// The centre of a camera in world coordinates.
inline Vec3d camera_centre(const Pose& cam_from_world) {
  return inverse(cam_from_world).translation;
}

}  // namespace recon
