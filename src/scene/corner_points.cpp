#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

#include "core/hypotenuse.hpp"
#include "scene/epipolar_check.hpp"
#include "scene/view_geometry.hpp"

namespace recon {
namespace {

/// Max distance between a point's image and the corner that it was matched with, pixels of small images.
constexpr double kMaxDistance = 1.5;

using Views = std::vector<CalibratedView>;

/// The point on the ray of the reference's pixel nearest to the ray of the source's; nothing where the rays
/// are parallel, or nearest behind a camera.
std::optional<Vec3d> nearest_on_ray(const Views& views, const ViewMatch& match) {
  const CalibratedView &reference = views[match.reference], &source = views[match.source];
  const Pose world_from_reference = inverse(reference.cam_from_world),
             world_from_source = inverse(source.cam_from_world);
  const Vec3d u = normalized(world_from_reference.rotation * reference.camera.ray(match.at.in_reference));
  const Vec3d v = normalized(world_from_source.rotation * source.camera.ray(match.at.in_source));
  const Vec3d normal = cross(u, v);
  const auto [depth, other] = nearest_on_lines(
      world_from_source.translation - world_from_reference.translation, u, v, dot(normal, normal));
  if (!(depth > 0 && other > 0 && std::isfinite(depth))) return std::nullopt;
  return world_from_reference.translation + depth * u;
}

/// Whether the image of a point in the source lies at the corner.
bool agrees(const Views& views, const ViewMatch& match, Vec3d x) {
  const CalibratedView& source = views[match.source];
  const Vec3d in_cam = source.cam_from_world * x;
  if (!(in_cam.z > 0)) return false;
  const Vec2d pixel = source.camera.project(in_cam);
  return hypotenuse(pixel.x - match.at.in_source.x, pixel.y - match.at.in_source.y) <= kMaxDistance;
}

/// The point of one corner on which most of its matches agree.
std::optional<SparsePoint> point_of(const Views& views, std::span<const ViewMatch> matches, int min_sources,
                                    double min_angle) {
  std::optional<SparsePoint> best;
  const int reference = matches.front().reference;
  const Vec3d centre = camera_centre(views[reference].cam_from_world);
  for (const ViewMatch& match : matches) {
    const auto x = nearest_on_ray(views, match);
    if (!x || !agrees(views, match, *x)) continue;
    SparsePoint point{0, *x, {}, 0, {{reference, 0}}};
    double angle = 0;
    for (const ViewMatch& other : matches) {
      if (!agrees(views, other, *x)) continue;
      point.track.push_back({other.source, 0});
      angle =
          std::max(angle, triangulation_angle(*x, centre, camera_centre(views[other.source].cam_from_world)));
    }
    if (std::ssize(point.track) <= min_sources || angle < min_angle) continue;
    if (!best || point.track.size() > best->track.size()) best = std::move(point);
  }
  return best;
}

}  // namespace

std::vector<SparsePoint> triangulate_corners(const Views& views, std::vector<ViewMatch> matches,
                                             int min_sources, double min_angle) {
  const auto corner = [](const ViewMatch& it) {
    return std::tuple(it.reference, it.at.in_reference.y, it.at.in_reference.x);
  };
  std::ranges::stable_sort(matches, {}, corner);
  std::vector<SparsePoint> points;
  for (std::size_t i = 0; i < matches.size();) {
    std::size_t end = i + 1;
    while (end < matches.size() && corner(matches[end]) == corner(matches[i])) ++end;
    if (auto point = point_of(views, {matches.data() + i, end - i}, min_sources, min_angle))
      points.push_back(std::move(*point));
    i = end;
  }
  return points;
}

}  // namespace recon
