#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "match/posed_image.hpp"
#include "reference/patch_reference.hpp"

namespace recon::reference {

/// Views of a textured plane in closed form: view 0, the reference, has its camera at the origin; its inverse
/// depth is affine over the image.
struct TexturedPlane {
  std::vector<Image<std::uint8_t>> images;
  PosedImage reference;
  std::vector<PosedImage> sources;
  TextbookPlane plane;  ///< at the centre of the reference image

  TextbookPlane at(double x, double y) const {
    const double dx = x + 0.5 - reference.camera.cx, dy = y + 0.5 - reference.camera.cy;
    return {plane.w + plane.wx * dx + plane.wy * dy, plane.wx, plane.wy};
  }
  /// Change of a source position with the inverse depth, pixels per unit, in the first source.
  double parallax() const {
    return reference.camera.fx * std::abs(sources.front().cam_from_world.translation.x);
  }
};

/// @param plane    at the centre of the reference image
/// @param sources  their cameras stand right, left, below and above the reference, and have the plane's point
///                 on the reference's axis in the middle of their images
inline TexturedPlane textured_plane(int width, int height, const TextbookPlane& plane, int sources = 4) {
  constexpr double kBaseline = 0.2;
  TexturedPlane scene;
  scene.plane = plane;
  PosedImage view;
  view.camera = {width, height, 1.2 * width, 1.2 * width, 0.5 * width, 0.5 * height};
  // On the plane 1/z = p + q x/z + r y/z, so 1 = p z + q x + r y in camera coordinates.
  const double p = plane.w, q = plane.wx * view.camera.fx, r = plane.wy * view.camera.fy;
  const double scale = 2 * 3.14159265358979 * plane.w * view.camera.fx;  // a pixel at the centre is 2 pi
  const auto level = [scale](double x, double y) {
    const double a = scale * x, b = scale * y;
    return 127 + 30 * std::sin(a / 9 + 1) * std::cos(b / 8) + 25 * std::sin(a / 15 - b / 19) +
           35 * std::sin(a / 38 + b / 29) + 35 * std::sin(a / 67 - b / 53 + 2);
  };
  constexpr double kOffsets[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (int i = 0; i <= sources; ++i) {
    const double cx = kBaseline * kOffsets[i][0], cy = kBaseline * kOffsets[i][1];
    view.cam_from_world.translation = {-cx, -cy, 0};
    view.camera.cx = 0.5 * width + cx * plane.w * view.camera.fx;
    view.camera.cy = 0.5 * height + cy * plane.w * view.camera.fy;
    Image<std::uint8_t>& image = scene.images.emplace_back(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const Vec2d ray = {(x + 0.5 - view.camera.cx) / view.camera.fx,
                           (y + 0.5 - view.camera.cy) / view.camera.fy};
        const double z = (1 - q * cx - r * cy) / (p + q * ray.x + r * ray.y);
        image(x, y) = static_cast<std::uint8_t>(std::lround(level(cx + z * ray.x, cy + z * ray.y)));
      }
    view.channel[0] = image.view();
    if (i == 0)
      scene.reference = view;
    else
      scene.sources.push_back(view);
  }
  return scene;
}

}  // namespace recon::reference
