#include "fuse/planes/asked_plane.hpp"

#include <cmath>

#include "fuse/planes/sky.hpp"

namespace recon {

namespace {

/// Of a place on a plane in two views, grey levels: exposures differ by less, and other surfaces by more.
constexpr int kMaxGreyDifference = 30;

}  // namespace

AskedPlane::AskedPlane(const WorldPlane& plane, std::uint8_t label, const PlaneView& reference,
                       const std::vector<PlaneView>& others)
    : label_(label),
      reference_(&reference),
      seen_(plane, reference.camera, reference.cam_from_world),
      extent_(plane.extent),
      world_from_reference_(inverse(reference.cam_from_world)) {
  for (const PlaneView& other : others)
    others_.push_back({&other, SeenPlane(plane, other.camera, other.cam_from_world),
                       PlaneHomography(seen_, reference.camera, other.camera,
                                       other.cam_from_world * world_from_reference_)});
}

bool AskedPlane::contains(AreaPixel pixel) const {
  const Vec2d centre = pixel_centre(pixel.x, pixel.y);
  const double inverse_depth = seen_.inverse_depth(centre);
  if (!(inverse_depth > 0)) return false;
  return extent_.contains(world_from_reference_ * (1 / inverse_depth * reference_->camera.ray(centre)));
}

void AskedPlane::ask(AreaPixel pixel, PlaneAnswers& answers) const {
  const int grey = reference_->grey(pixel.x, pixel.y);
  for (const Other& other : others_) {
    const Vec3d at = other.from_reference.homogeneous(pixel_centre(pixel.x, pixel.y));
    if (!(at.z > 0)) continue;
    const Vec2d position{at.x / at.z, at.y / at.z};
    if (!other.view->camera.contains(position)) continue;
    const int x = static_cast<int>(position.x), y = static_cast<int>(position.y);
    const double ratio = static_cast<double>(other.view->depth(x, y)) * other.seen.inverse_depth(position);
    if (std::abs(ratio - 1) <= kOnPlane)
      ++(std::abs(other.view->grey(x, y) - grey) <= kMaxGreyDifference ? answers.on : answers.other);
    if (ratio > 1 + kThroughPlane) ++answers.through;
    if (!other.view->sky.empty() && is_inside_sky(other.view->sky, x, y)) ++answers.sky;
  }
}

}  // namespace recon
