#include "match/posed_image.hpp"

#include "core/error.hpp"

namespace recon {
namespace {

Mat3d calibration(const Pinhole& c) {
  return {{c.fx, 0, c.cx, 0, c.fy, c.cy, 0, 0, 1}};
}

Mat3d inverse_calibration(const Pinhole& c) {
  return {{1 / c.fx, 0, -c.cx / c.fx, 0, 1 / c.fy, -c.cy / c.fy, 0, 0, 1}};
}

Mat3d shift(Vec2d by) {
  return {{1, 0, by.x, 0, 1, by.y, 0, 0, 1}};
}

}  // namespace

SourceWarp make_source_warp(const Pinhole& reference, const Pose& reference_from_world, const Pinhole& source,
                            const Pose& source_from_world) {
  const Pose source_from_reference = source_from_world * inverse(reference_from_world);
  const Mat3d pixel_from_index = shift(pixel_centre(0, 0));
  const Mat3d index_from_pixel = shift(index_of({0, 0}));
  const Mat3d scale = {{kSubpixels, 0, 0, 0, kSubpixels, 0, 0, 0, 1}};
  const Mat3d to_source = scale * (index_from_pixel * calibration(source));
  const Mat3d a =
      to_source * source_from_reference.rotation * (inverse_calibration(reference) * pixel_from_index);
  const Vec3d b = to_source * source_from_reference.translation;
  SourceWarp warp;
  for (int i = 0; i < 9; ++i) warp.a[i] = static_cast<float>(a.m[i]);
  warp.b[0] = static_cast<float>(b.x);
  warp.b[1] = static_cast<float>(b.y);
  warp.b[2] = static_cast<float>(b.z);
  return warp;
}

PlaneSet make_plane_set(double near, double far, int count) {
  EXPECTS(near > 0 && far > near && count >= 2);
  const double step = (1 / near - 1 / far) / (count - 1);
  return {static_cast<float>(1 / far), static_cast<float>(step), count};
}

}  // namespace recon
