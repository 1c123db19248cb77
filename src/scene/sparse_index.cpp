#include "scene/sparse_index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/hypotenuse.hpp"

namespace recon {
namespace {

/// The points whose track is empty: sorted pairs of id and index.
std::vector<std::pair<std::uint64_t, int>> points_without_track(const Scene& scene) {
  std::vector<std::pair<std::uint64_t, int>> points;
  for (std::size_t p = 0; p < scene.points.size(); ++p)
    if (scene.points[p].track.empty()) points.emplace_back(scene.points[p].id, static_cast<int>(p));
  std::ranges::sort(points);
  return points;
}

/// Calls `found(point, view)` for every reprojection, possibly more than once.
template <class Found>
void for_each_reprojection(const Scene& scene, const Found& found) {
  for (std::size_t p = 0; p < scene.points.size(); ++p)
    for (const TrackElement& element : scene.points[p].track) {
      EXPECTS(element.view >= 0 && static_cast<std::size_t>(element.view) < scene.views.size());
      found(static_cast<int>(p), element.view);
    }
  const auto points = points_without_track(scene);
  if (points.empty()) return;
  for (std::size_t v = 0; v < scene.views.size(); ++v)
    for (const Observation& observation : scene.views[v].observations) {
      if (observation.point_id == kNoPoint) continue;
      const auto it = std::lower_bound(points.begin(), points.end(),
                                       std::pair{observation.point_id, std::numeric_limits<int>::min()});
      if (it != points.end() && it->first == observation.point_id) found(it->second, static_cast<int>(v));
    }
}

IndexLists lists_by_point(const Scene& scene) {
  EXPECTS(scene.points.size() < static_cast<std::size_t>(std::numeric_limits<int>::max()));
  return {static_cast<int>(scene.points.size()), [&](const auto& add) { for_each_reprojection(scene, add); }};
}

IndexLists inverted(const IndexLists& views_of_point, int views) {
  return {views, [&](const auto& add) {
            for (int p = 0; p < views_of_point.size(); ++p)
              for (const int v : views_of_point[p]) add(v, p);
          }};
}

constexpr int kLeast = 16;  ///< blocks of at most this many points are not divided

std::array<double, 3> axes_of(Vec3d v) {
  return {v.x, v.y, v.z};
}

}  // namespace

void IndexLists::end_counting() {
  std::size_t total = 0;
  for (std::size_t& begin : begin_) total += std::exchange(begin, total);
  items_.resize(total);
}

void IndexLists::sort_lists() {
  std::size_t kept = 0, begin = 0;
  for (std::size_t i = 0; i + 1 < begin_.size(); ++i) {
    const auto at = [&](std::size_t item) { return items_.begin() + static_cast<std::ptrdiff_t>(item); };
    const std::size_t end = begin_[i];  // advanced by filling
    std::sort(at(begin), at(end));
    const auto last = std::unique(at(begin), at(end));
    begin_[i] = kept;
    if (kept < begin) std::copy(at(begin), last, at(kept));
    kept += static_cast<std::size_t>(last - at(begin));
    begin = end;
  }
  begin_.back() = kept;
  items_.resize(kept);
}

Visibility::Visibility(const Scene& scene)
    : views_of_point(lists_by_point(scene)),
      points_of_view(inverted(views_of_point, static_cast<int>(scene.views.size()))) {}

IndexLists points_of_views(const Scene& scene, std::span<const int> views) {
  constexpr int kNotAsked = -1;
  std::vector<int> place(scene.views.size(), kNotAsked);
  for (std::size_t i = 0; i < views.size(); ++i) place[views[i]] = static_cast<int>(i);
  return {static_cast<int>(views.size()), [&](const auto& add) {
            for_each_reprojection(scene, [&](int point, int view) {
              if (place[view] != kNotAsked) add(place[view], point);
            });
          }};
}

SceneIndex::SceneIndex(const Scene& of)
    : scene(of), views(of), visibility(of), blocks(of), distances(viewing_distances(views)) {}

void PointBlocks::build() const {
  order_.resize(scene_.points.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (!order_.empty()) divide(0, static_cast<int>(order_.size()));
}

void PointBlocks::divide(int begin, int end) const {
  const auto position = [&](int point) { return scene_.points[point].position; };
  Vec3d low = position(order_[begin]), high = low;
  for (int i = begin; i < end; ++i) {
    const Vec3d x = position(order_[i]);
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  const std::size_t block = blocks_.size();
  const Vec3d size = high - low;
  blocks_.push_back({low + 0.5 * size, 0.5 * norm(size), begin, end, 0});
  if (end - begin > kLeast) {
    const std::array<double, 3> sides = axes_of(size);
    const auto axis = static_cast<std::size_t>(std::ranges::max_element(sides) - sides.begin());
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](int a, int b) { return axes_of(position(a))[axis] < axes_of(position(b))[axis]; });
    divide(begin, middle);
    divide(middle, end);
  }
  blocks_[block].next = static_cast<int>(blocks_.size());
}

std::vector<int> PointBlocks::near_image(const ViewGeometry& view) const {
  const std::optional<double> cone = view.half_angle();
  std::vector<int> points;
  if (!cone) {
    points.resize(scene_.points.size());
    std::iota(points.begin(), points.end(), 0);
    return points;
  }
  std::call_once(built_, [this] { build(); });
  const double sine = std::sin(*cone), cosine = std::cos(*cone);
  for (std::size_t i = 0; i < blocks_.size();) {
    const Block& block = blocks_[i];
    const Vec3d x = view.cam_from_world * block.centre;
    // If positive, a lower bound of the distance of the centre from the viewing cone.
    const double outside = hypotenuse(x.x, x.y) * cosine - x.z * sine;
    const auto next = static_cast<std::size_t>(block.next);
    if (outside > block.radius * (1 + 1e-9)) {
      i = next;
      continue;
    }
    if (next == i + 1) points.insert(points.end(), order_.begin() + block.begin, order_.begin() + block.end);
    ++i;
  }
  std::ranges::sort(points);
  return points;
}

}  // namespace recon
