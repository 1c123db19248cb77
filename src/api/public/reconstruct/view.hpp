#pragma once

#include "reconstruct/image.hpp"

namespace reconstruct {

/// A camera without distortion, in pixels: +x right, +y down, +z forward. The pixel with index (0, 0) has its
/// centre at (0.5, 0.5), as in COLMAP; in OpenCV it has it at (0, 0): add 0.5 to cx and cy from there.
struct Camera {
  double fx = 0, fy = 0;  ///< focal lengths, > 0
  double cx = 0, cy = 0;  ///< principal point
};

/// A rigid motion: x_in_cam = R x_in_world + t, in scene units. As COLMAP's images have it; it is the inverse
/// of the pose of the camera in the world.
struct Pose {
  double rotation[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  ///< row by row, orthonormal
  double translation[3] = {0, 0, 0};
};

/// The depth map of a view and what belongs to it, each of the size of the view. Unknown is NaN in all maps.
struct DepthMaps {
  Map<float> depth;       ///< z along the viewing axis, scene units
  Map<Vector3f> normal;   ///< unit, in the frame of the camera, towards it
  Map<float> confidence;  ///< [0, 1], multiples of 1/255
};

}  // namespace reconstruct
