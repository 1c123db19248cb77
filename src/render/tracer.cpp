#include "render/tracer.hpp"

namespace recon {
namespace {

/// Min distance of self-intersections of rays that start on a surface, relative to its distance from the eye
/// or light.
constexpr double kSelfDistance = 1e-7;

/// Whether the ray hits the sphere around `centre`: a cheap test before the intersection.
bool passes(Vec3d origin, Vec3d direction, const ObjectBounds& bounds, double t_max) {
  const auto& [centre, radius] = bounds;
  const Vec3d to_centre = centre - origin;
  const double along = dot(to_centre, direction);
  if (along + radius < 0 || along - radius > t_max) return false;
  return dot(to_centre, to_centre) - along * along <= radius * radius * (1 + 1e-9);
}

std::vector<ObjectBounds> bounds_of(const std::vector<SceneObject>& objects) {
  std::vector<ObjectBounds> bounds;
  for (const SceneObject& object : objects)
    bounds.push_back({object.world_from_object.translation, bounding_radius(object.shape)});
  return bounds;
}

}  // namespace

Tracer::Tracer(const SceneDescription& description)
    : description_(description), tree_(bounds_of(description.objects)) {
  const std::vector<ObjectBounds> bounds = bounds_of(description.objects);
  for (std::size_t i = 0; i < bounds.size(); ++i)
    placed_.push_back({inverse(description.objects[i].world_from_object), bounds[i]});
}

std::optional<SurfaceHit> Tracer::cast(Vec3d origin, Vec3d direction) const {
  std::optional<ShapeHit> first;
  int object = -1;
  tree_.visit(origin, direction, [&](int i, double nearest) {
    const Placed& placed = placed_[i];
    if (!passes(origin, direction, placed.bounds, nearest)) return nearest;
    const auto hit = intersect(description_.objects[i].shape, placed.object_from_world * origin,
                               placed.object_from_world.rotation * direction, 0.0);
    if (!hit || hit->t > nearest || (hit->t == nearest && i > object)) return nearest;
    first = hit;
    object = i;
    return hit->t;
  });
  if (!first) return std::nullopt;
  const Vec3d position = origin + first->t * direction;
  const Vec3d normal = transpose(placed_[object].object_from_world.rotation) * first->normal;
  return SurfaceHit{first->t,
                    position,
                    dot(normal, direction) > 0 ? -normal : normal,
                    placed_[object].object_from_world * position,
                    first->uv,
                    object};
}

bool Tracer::sees(Vec3d eye, Vec3d place) const {
  const Vec3d way = place - eye;
  const double distance = norm(way);
  const auto hit = cast(eye, normalized(way));
  return !hit || hit->t >= distance * (1 - kSelfDistance);
}

Vec3d Tracer::radiance(const SurfaceHit& hit, double footprint) const {
  const Light& light = description_.light;
  const double facing = dot(hit.normal, normalized(light.position - hit.position));
  const bool lit = facing > 0 && light.ambient < 1 && (!light.shadows || sees(light.position, hit.position));
  const Vec3d colour =
      reflectance(description_.objects[hit.object].texture, hit.x_in_object, hit.uv, footprint);
  return (light.ambient + (1 - light.ambient) * (lit ? facing : 0)) * colour;
}

}  // namespace recon
