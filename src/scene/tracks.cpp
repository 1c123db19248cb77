#include "scene/tracks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace recon {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

/// (point, view) of every sighting; may name one twice.
Pairs sightings(const Scene& scene) {
  EXPECTS(scene.points.size() < static_cast<std::size_t>(std::numeric_limits<int>::max()));
  Pairs pairs;
  std::vector<std::pair<std::uint64_t, int>> without_track;  // id and index, to be looked up
  for (std::size_t p = 0; p < scene.points.size(); ++p) {
    const SparsePoint& point = scene.points[p];
    for (const TrackElement& element : point.track) {
      EXPECTS(element.view >= 0 && static_cast<std::size_t>(element.view) < scene.views.size());
      pairs.emplace_back(static_cast<int>(p), element.view);
    }
    if (point.track.empty()) without_track.emplace_back(point.id, static_cast<int>(p));
  }
  if (without_track.empty()) return pairs;
  std::sort(without_track.begin(), without_track.end());
  for (std::size_t v = 0; v < scene.views.size(); ++v)
    for (const Observation& observation : scene.views[v].observations) {
      if (observation.point_id == kNoPoint) continue;
      const auto found = std::lower_bound(without_track.begin(), without_track.end(),
                                          std::pair{observation.point_id, std::numeric_limits<int>::min()});
      if (found != without_track.end() && found->first == observation.point_id)
        pairs.emplace_back(found->second, static_cast<int>(v));
    }
  return pairs;
}

Pairs swapped(Pairs pairs) {
  for (auto& [a, b] : pairs) std::swap(a, b);
  return pairs;
}

}  // namespace

IndexLists::IndexLists(int lists, Pairs pairs) : begin_(static_cast<std::size_t>(lists) + 1, 0) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  items_.reserve(pairs.size());
  for (const auto& [list, item] : pairs) {
    items_.push_back(item);
    begin_[static_cast<std::size_t>(list) + 1] = items_.size();
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] = std::max(begin_[i], begin_[i - 1]);
}

Visibility::Visibility(const Scene& scene)
    : views_of_point(static_cast<int>(scene.points.size()), sightings(scene)),
      points_of_view(static_cast<int>(scene.views.size()), swapped(sightings(scene))) {}

}  // namespace recon
