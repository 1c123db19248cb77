#include "match/posed_image.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "match/halved_step.hpp"

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

PosedImage sized_image(const Pinhole& camera, int channels) {
  PosedImage image;
  image.camera = camera;
  image.channels = channels;
  image.channel.fill(sized_view<std::uint8_t>(camera.width, camera.height));
  return image;
}

Image<std::uint8_t> halved(ImageView<const std::uint8_t> image) {
  Image<std::uint8_t> half((image.width + 1) / 2, (image.height + 1) / 2);
  for (int y = 0; y < half.height(); ++y) {
    const std::uint8_t* top = image.row(2 * y);
    const std::uint8_t* bottom = image.row(std::min(2 * y + 1, image.height - 1));
    std::uint8_t* out = half.row(y);
    for (int x = 0; x < half.width(); ++x) {
      const int a = 2 * x, b = std::min(a + 1, image.width - 1);
      out[x] = halved_pixel(top[a], top[b], bottom[a], bottom[b]);
    }
  }
  return half;
}

Pinhole halved(const Pinhole& camera) {
  return {(camera.width + 1) / 2, (camera.height + 1) / 2, camera.fx / 2,
          camera.fy / 2,          camera.cx / 2,           camera.cy / 2};
}

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
