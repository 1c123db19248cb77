#include "reference/fusion_reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace recon::reference {
namespace {

struct Point {
  double x, y, z;
};

/// R^T v, R the rotation of a pose.
Point rotated_back(const Pose& pose, Point v) {
  const Mat3d& r = pose.rotation;
  return {r(0, 0) * v.x + r(1, 0) * v.y + r(2, 0) * v.z, r(0, 1) * v.x + r(1, 1) * v.y + r(2, 1) * v.z,
          r(0, 2) * v.x + r(1, 2) * v.y + r(2, 2) * v.z};
}

/// The world point seen at the centre of a pixel, at depth z: R^T (z K^-1 p - t).
Point world_point(const Pinhole& k, const Pose& pose, int x, int y, double z) {
  const Vec3d& t = pose.translation;
  return rotated_back(pose, {(x + 0.5 - k.cx) / k.fx * z - t.x, (y + 0.5 - k.cy) / k.fy * z - t.y, z - t.z});
}

Point world_normal(const Pose& pose, Vec3f n) {
  return rotated_back(pose, {n.x, n.y, n.z});
}

/// Where a view sees a world point.
struct Seen {
  bool inside = false;
  int x = 0, y = 0;
  double z = 0;
  double u = 0, v = 0;  ///< not rounded
};

Seen seen_by(const Pinhole& k, const Pose& pose, Point p) {
  const Mat3d& r = pose.rotation;
  const Vec3d& t = pose.translation;
  const double x = r(0, 0) * p.x + r(0, 1) * p.y + r(0, 2) * p.z + t.x;
  const double y = r(1, 0) * p.x + r(1, 1) * p.y + r(1, 2) * p.z + t.y;
  const double z = r(2, 0) * p.x + r(2, 1) * p.y + r(2, 2) * p.z + t.z;
  if (z <= 0) return {};
  const double u = k.fx * x / z + k.cx, v = k.fy * y / z + k.cy;
  if (u < 0 || v < 0 || u >= k.width || v >= k.height) return {};
  return {true, static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)), z, u, v};
}

bool same_depth(double predicted, float found, const ConsistencyOptions& options) {
  if (std::isnan(found)) return false;
  const double at = found;
  return std::abs(predicted - at) / at <= static_cast<double>(options.max_relative_depth);
}

bool same_normal(Point a, Point b, const ConsistencyOptions& options, float noise) {
  const double cosine = a.x * b.x + a.y * b.y + a.z * b.z;
  if (std::isnan(cosine)) return true;  // one of them is unknown
  double limit = options.max_angle_degrees;
  if (options.angle_follows_noise && 8.5 * noise > limit) limit = std::min(8.5 * noise, 90.0);
  return std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / M_PI <= limit;
}

Point between(Point from, Point to) {
  return {to.x - from.x, to.y - from.y, to.z - from.z};
}

double product(Point a, Point b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// The ray from the centre of a camera through `point` meets the plane through `on_plane` at this multiple of
/// the way to `point`.
double way_to_plane(const Pose& pose, Point point, Point on_plane, Point normal) {
  const Vec3d& t = pose.translation;
  const Point centre = rotated_back(pose, {-t.x, -t.y, -t.z});
  return product(normal, between(centre, on_plane)) / product(normal, between(centre, point));
}

class Cloud {
 public:
  Cloud(const std::vector<FusionView>& views, const std::vector<FusionMaps>& maps,
        const FusionOptions& options)
      : views_(views), maps_(maps), options_(options) {
    for (const FusionView& view : views)
      used_.emplace_back(static_cast<std::size_t>(view.camera.width * view.camera.height), false);
    for (const FusionMaps& its : maps) noise_.push_back(reference::normal_noise(its));
  }

  std::vector<CloudPoint> points() {
    std::vector<CloudPoint> all;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const Pinhole& camera = views_[i].camera;
      std::vector<std::vector<CloudPoint>> rows(static_cast<std::size_t>(camera.height));
      for (int y0 = 0; y0 < options_.spacing; ++y0)
        for (int x0 = 0; x0 < options_.spacing; ++x0)
          for (int y = y0; y < camera.height; y += options_.spacing)
            for (int x = x0; x < camera.width; x += options_.spacing)
              start_point(i, x, y, rows[static_cast<std::size_t>(y)]);
      for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

 private:
  struct Observation {
    std::size_t view;
    int x, y;
  };

  float depth(const Observation& o) const { return maps_[o.view].depth(o.x, o.y); }
  Point normal(const Observation& o) const {
    return world_normal(views_[o.view].cam_from_world, maps_[o.view].normal(o.x, o.y));
  }
  bool is_used(std::size_t view, int x, int y) const {
    return used_[view][static_cast<std::size_t>(y * views_[view].camera.width + x)];
  }

  void start_point(std::size_t i, int x, int y, std::vector<CloudPoint>& row) {
    const Observation own{i, x, y};
    const double z = depth(own);
    if (std::isnan(z) || is_used(i, x, y)) return;
    const Point point = world_point(views_[i].camera, views_[i].cam_from_world, x, y, z);
    std::vector<Observation> agreeing{own};
    struct Mark {
      std::size_t view;
      Seen seen;
    };
    std::vector<Mark> later;
    int seeing_through = 0, known = 0;
    for (const int j : views_[i].neighbours) {
      const auto k = static_cast<std::size_t>(j);
      const Seen seen = seen_by(views_[k].camera, views_[k].cam_from_world, point);
      if (!seen.inside) continue;
      const Observation other{k, seen.x, seen.y};
      const double found = depth(other);
      known += !std::isnan(found);
      if (!std::isnan(found) &&
          seen.z < found - static_cast<double>(options_.agreement.max_relative_depth) * found)
        ++seeing_through;
      if (!same_depth(seen.z, depth(other), options_.agreement)) continue;
      if (k > i) later.push_back({k, seen});
      if (same_normal(normal(own), normal(other), options_.agreement, std::max(noise_[i], noise_[k])))
        agreeing.push_back(other);
    }
    const int count = static_cast<int>(agreeing.size());
    const float limit = options_.agreement.min_lone_confidence;
    const bool sure = known == 0 && limit != 1 && maps_[i].confidence(x, y) >= limit;
    if ((count < options_.min_views && !sure) || seeing_through >= count || !mean(agreeing, row)) return;
    mark(i, {true, x, y, z, x + 0.5, y + 0.5}, options_.spacing - 0.5);
    const double reach = (surface_continues(own) ? 1.0 : 0.5) * options_.spacing;
    for (const Mark& one : later) mark(one.view, one.seen, reach);
  }

  /// Whether the image goes on one spacing to the left, to the right, above and below, and nothing is there
  /// that is nearer by three times the difference of depths that agree.
  bool surface_continues(const Observation& o) const {
    const int s = options_.spacing, offsets[4][2] = {{-s, 0}, {s, 0}, {0, -s}, {0, s}};
    for (const auto& [dx, dy] : offsets) {
      const Observation beside{o.view, o.x + dx, o.y + dy};
      const Pinhole& camera = views_[o.view].camera;
      if (beside.x < 0 || beside.y < 0 || beside.x >= camera.width || beside.y >= camera.height) return false;
      const double limit = 1 - 3 * static_cast<double>(options_.agreement.max_relative_depth);
      if (static_cast<double>(depth(beside)) < limit * static_cast<double>(depth(o))) return false;
    }
    return true;
  }

  /// Marks the pixels of the surface whose centres are at most `reach` from an image of a point, in x and y.
  void mark(std::size_t view, const Seen& at, double reach) {
    const Pinhole& camera = views_[view].camera;
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x)
        if (std::max(std::abs(x + 0.5 - at.u), std::abs(y + 0.5 - at.v)) <= reach &&
            same_depth(at.z, depth({view, x, y}), options_.agreement))
          used_[view][static_cast<std::size_t>(y * camera.width + x)] = true;
  }

  /// Appends the mean of the observations, positions weighted by 1/z^2; false if no normal is known.
  bool mean(const std::vector<Observation>& observations, std::vector<CloudPoint>& row) const {
    double weights = 0, position[3] = {}, direction[3] = {}, colour[3] = {}, confidence = 0;
    CloudPoint point{};
    for (const Observation& o : observations) {
      const double z = depth(o), weight = 1 / (z * z);
      const Point at = world_point(views_[o.view].camera, views_[o.view].cam_from_world, o.x, o.y, z);
      const Point n = normal(o);
      weights += weight;
      position[0] += weight * at.x, position[1] += weight * at.y, position[2] += weight * at.z;
      if (!std::isnan(n.x)) direction[0] += n.x, direction[1] += n.y, direction[2] += n.z;
      const Rgb8 c = maps_[o.view].colour(o.x, o.y);
      colour[0] += c.r, colour[1] += c.g, colour[2] += c.b;
      confidence += static_cast<double>(maps_[o.view].confidence(o.x, o.y));
      point.views.push_back(static_cast<std::uint32_t>(o.view));
      ++point.view_count;
    }
    const double length = std::hypot(direction[0], direction[1], direction[2]);
    if (length == 0) return false;
    const double n = static_cast<double>(observations.size());
    const auto byte = [&](double sum) { return static_cast<std::uint8_t>(std::floor(sum / n + 0.5)); };
    point.position = {position[0] / weights, position[1] / weights, position[2] / weights};
    point.normal = {static_cast<float>(direction[0] / length), static_cast<float>(direction[1] / length),
                    static_cast<float>(direction[2] / length)};
    point.colour = {byte(colour[0]), byte(colour[1]), byte(colour[2])};
    point.confidence = static_cast<float>(confidence / n);
    std::sort(point.views.begin(), point.views.end());
    row.push_back(point);
    return true;
  }

  const std::vector<FusionView>& views_;
  const std::vector<FusionMaps>& maps_;
  FusionOptions options_;
  std::vector<float> noise_;  ///< of the normals of each view
  std::vector<std::vector<bool>> used_;
};

}  // namespace

Counts agreement(const DepthView& reference, const std::vector<DepthView>& sources,
                 const ConsistencyOptions& options, int x, int y) {
  Counts counts;
  const double z = reference.depth(x, y);
  if (std::isnan(z)) return counts;
  const Point point = world_point(reference.camera, reference.cam_from_world, x, y, z);
  const Point normal = world_normal(reference.cam_from_world, reference.normal(x, y));
  for (const DepthView& source : sources) {
    const Seen seen = seen_by(source.camera, source.cam_from_world, point);
    if (!seen.inside) continue;
    ++counts.visible;
    const float found = source.depth(seen.x, seen.y);
    if (std::isnan(found)) continue;
    ++counts.known;
    const bool same = same_depth(seen.z, found, options);
    counts.through += !same && seen.z < static_cast<double>(found);
    const Point found_normal = world_normal(source.cam_from_world, source.normal(seen.x, seen.y));
    const bool agrees = same && same_normal(normal, found_normal, options,
                                            std::max(reference.normal_noise, source.normal_noise));
    counts.agree += agrees;
    const double difference = std::abs(seen.z / static_cast<double>(found) - 1);
    counts.close += agrees && difference <= static_cast<double>(options.max_relative_depth) / 4;
    const Point surface = world_point(source.camera, source.cam_from_world, seen.x, seen.y, found);
    const double offset = way_to_plane(reference.cam_from_world, point, surface, found_normal) - 1;
    if (!agrees || !(std::abs(offset) <= static_cast<double>(options.max_relative_depth) / 2)) continue;
    ++counts.placed, counts.offset += offset;
  }
  return counts;
}

float normal_noise(const FusionMaps& maps) {
  std::vector<double> angles;
  for (int j = 0; j < 64; ++j)
    for (int i = 0; i < 64; ++i) {
      const int x = static_cast<int>((i + 0.5) / 64 * (maps.depth.width - 4));
      const int y = static_cast<int>((j + 0.5) / 64 * maps.depth.height);
      const Vec3f a = maps.normal(x, y), b = maps.normal(x + 4, y);
      const double z = maps.depth(x, y), other = maps.depth(x + 4, y);
      if (std::isnan(z) || std::isnan(other) || std::abs(other / z - 1) > 0.01) continue;
      if (!(maps.confidence(x, y) >= 0.7f)) continue;
      const double cosine = product({a.x, a.y, a.z}, {b.x, b.y, b.z});
      if (!std::isnan(cosine)) angles.push_back(std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / M_PI);
    }
  if (angles.size() < 64) return 0;
  std::sort(angles.begin(), angles.end(), std::greater());
  return static_cast<float>(angles[angles.size() / 2]);
}

std::vector<CloudPoint> fused_points(const std::vector<FusionView>& views,
                                     const std::vector<FusionMaps>& maps, const FusionOptions& options) {
  return Cloud(views, maps, options).points();
}

}  // namespace recon::reference
