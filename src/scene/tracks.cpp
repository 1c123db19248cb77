#include "scene/tracks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace recon {
namespace {

/// The points whose track is empty: sorted pairs of id and index.
std::vector<std::pair<std::uint64_t, int>> points_without_track(const Scene& scene) {
  std::vector<std::pair<std::uint64_t, int>> points;
  for (std::size_t p = 0; p < scene.points.size(); ++p)
    if (scene.points[p].track.empty()) points.emplace_back(scene.points[p].id, static_cast<int>(p));
  std::sort(points.begin(), points.end());
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

}  // namespace recon
