#pragma once

#include "core/vec.hpp"

namespace recon {

/// A camera without distortion and skew. Pixel coordinates are COLMAP's: the pixel with index (i, j) has its
/// centre at (i + 0.5, j + 0.5); +x right, +y down, +z forward; fx, fy, cx, cy in pixels.
struct Pinhole {
  int width = 0;
  int height = 0;
  double fx = 0, fy = 0, cx = 0, cy = 0;

  /// The pixel coordinates of a point in front of the camera (z > 0).
  RECON_HD Vec2d project(Vec3d x_in_cam) const {
    return {fx * x_in_cam.x / x_in_cam.z + cx, fy * x_in_cam.y / x_in_cam.z + cy};
  }
  /// The point at pixel coordinates `pixel` whose depth (z) is 1.
  RECON_HD Vec3d ray(Vec2d pixel) const { return {(pixel.x - cx) / fx, (pixel.y - cy) / fy, 1.0}; }
  RECON_HD bool contains(Vec2d pixel) const {
    return pixel.x >= 0 && pixel.x < width && pixel.y >= 0 && pixel.y < height;
  }
};

/// The pixel coordinates of the centre of the pixel with index (x, y): the only definition of pixel centres.
RECON_HD Vec2d pixel_centre(int x, int y) {
  return {x + 0.5, y + 0.5};
}

/// The (continuous) index of pixel coordinates: `index_of(pixel_centre(x, y)) == (x, y)`.
RECON_HD Vec2d index_of(Vec2d pixel) {
  return {pixel.x - 0.5, pixel.y - 0.5};
}

/// The cameras of a rectified pair: the left one, and the right one on its x axis, with the same focal
/// lengths and cy. A point at x in the left image and at x - d in the right one has disparity d.
struct StereoCamera {
  Pinhole left;
  double baseline = 0;  ///< from the left centre to the right one, scene units, > 0
  double offset = 0;    ///< cx of the right camera less that of the left one, pixels ("doffs")

  /// z = baseline fx / (d + offset), scene units; infinite or negative where d <= -offset. Disparities are
  /// differences of positions and so do not depend on the convention of pixel centres.
  double depth(double disparity) const { return baseline * left.fx / (disparity + offset); }
};

}  // namespace recon
