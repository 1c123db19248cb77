#include "render/tracer.hpp"

#include <algorithm>
#include <numeric>

namespace recon {

namespace {

constexpr int kLeafObjects = 3;
/// How much larger boxes are than the spheres, for rounding.
constexpr double kBoxMargin = 1e-6;
constexpr double kMissed = std::numeric_limits<double>::quiet_NaN();

double of_axis(Vec3d v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

}  // namespace

ObjectTree::ObjectTree(const std::vector<ObjectBounds>& objects) : order_(objects.size()) {
  for (const auto& [centre, radius] : objects) {
    const double half = radius * (1 + kBoxMargin) + kBoxMargin * norm(centre);
    const Vec3d reach{half, half, half};
    boxes_.push_back({centre - reach, centre + reach});
  }
  std::iota(order_.begin(), order_.end(), 0);
  if (objects.empty()) return;
  nodes_.emplace_back();
  divide(0, 0, static_cast<int>(objects.size()));
}

ObjectTree::Ray::Ray(Vec3d from, Vec3d direction) : origin(from) {
  constexpr double kLeast = 1e-300;  // instead of 0, so that products with the inverse are numbers
  const auto inverse_of = [](double d) { return 1 / (d == 0 ? kLeast : d); };
  inverse = {inverse_of(direction.x), inverse_of(direction.y), inverse_of(direction.z)};
}

double ObjectTree::Box::entry(const Ray& ray) const {
  double enter = 0, leave = std::numeric_limits<double>::infinity();
  const auto clip = [&](double low, double high, double origin, double inverse) {
    const double a = (low - origin) * inverse, b = (high - origin) * inverse;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  };
  clip(min.x, max.x, ray.origin.x, ray.inverse.x);
  clip(min.y, max.y, ray.origin.y, ray.inverse.y);
  clip(min.z, max.z, ray.origin.z, ray.inverse.z);
  return enter <= leave ? enter : kMissed;
}

ObjectTree::Box ObjectTree::box_of(int begin, int end) const {
  Box box = boxes_[order_[begin]];
  for (int i = begin + 1; i < end; ++i) {
    const auto& [min, max] = boxes_[order_[i]];
    box.min = {std::min(box.min.x, min.x), std::min(box.min.y, min.y), std::min(box.min.z, min.z)};
    box.max = {std::max(box.max.x, max.x), std::max(box.max.y, max.y), std::max(box.max.z, max.z)};
  }
  return box;
}

/// Makes a node of objects order_[begin .. end), halved along the longest side of its box.
void ObjectTree::divide(int node, int begin, int end) {
  nodes_[node].box = box_of(begin, end);
  if (end - begin <= kLeafObjects) {
    nodes_[node].begin = begin, nodes_[node].end = end;
    return;
  }
  const Vec3d side = nodes_[node].box.max - nodes_[node].box.min;
  const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  const int middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int a, int b) {
    const double at_a = of_axis(boxes_[a].min + boxes_[a].max, axis);
    const double at_b = of_axis(boxes_[b].min + boxes_[b].max, axis);
    return at_a < at_b || (at_a == at_b && a < b);
  });
  const int left = static_cast<int>(nodes_.size());
  nodes_[node].left = left;
  nodes_.resize(nodes_.size() + 2);
  divide(left, begin, middle);
  divide(left + 1, middle, end);
}
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
