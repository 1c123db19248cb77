#include "scene/view_selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "scene/sparse_index.hpp"
#include "scene/view_geometry.hpp"

namespace recon {
namespace {

/// Max views of a track that are paired with a reference, so that the time is linear in the track length.
constexpr int kMaxTrackLength = 128;
/// Min number of shared points; fewer may all be mismatches.
constexpr double kMinShared = 5;
/// With fewer sources from points than this, sources from geometry are added.
constexpr std::size_t kEnoughSources = 2;
/// Virtual points of the selection by geometry: a grid of rays with depths relative to the viewing distance.
constexpr int kOverlapRays = 6;
constexpr double kRelativeDepths[] = {0.6, 0.8, 1.0, 1.25, 1.6};
constexpr double kDistanceInBaselines = 5;
constexpr double kMinSourceOverlap = 0.1;

/// The points that a view shares with a source.
struct SharedPoints {
  double score = 0;   ///< matching quality of the pair at the points
  double weight = 0;  ///< the number of points, with those that they represent
  std::size_t count = 0, below_min = 0, within_max = 0;  ///< without those, all and by their angles
};

struct Candidate {
  int view;
  double score;
};

/// Weight of a triangulation angle: depth precision increases up to 10 degrees, and surfaces look similar up
/// to about 15. The increasing part is equation 2 of Goesele et al., Multi-View Stereo for Community Photo
/// Collections, ICCV 2007.
double angle_weight(double angle, const ViewSelectionOptions& options) {
  if (angle > options.max_angle_degrees) return 0;
  if (angle < 10) return angle * angle / 100;
  if (angle <= 15) return 1;
  const double beyond = (angle - 15) / 12;
  return std::exp(-0.5 * beyond * beyond);
}

/// Weight of the resolution: 1 if the source is up to twice as fine, lower if it is finer or coarser (Goesele
/// et al. 2007, equation 3). @param ratio  size of a reference pixel at the point divided by that of a source
/// pixel
double scale_weight(double ratio) {
  if (ratio < 1) return ratio;
  return ratio < 2 ? 1 : 2 / ratio;
}

/// @param weight  the number of points that `x` represents
void add_point(const SceneGeometry& views, int reference, int source, Vec3d x, double weight,
               const ViewSelectionOptions& options, SharedPoints& shared) {
  const ViewGeometry &r = views[reference], &s = views[source];
  const double exact_angle = triangulation_angle(x, r.centre, s.centre);
  const double ratio = (norm(x - r.centre) / r.focal) / (norm(x - s.centre) / s.focal);
  const auto score = static_cast<float>(weight * angle_weight(exact_angle, options) * scale_weight(ratio));
  const double angle = static_cast<double>(static_cast<float>(exact_angle));
  shared.score += static_cast<double>(score);
  shared.weight += weight;
  shared.count += 1;
  shared.below_min += angle < options.min_angle_degrees ? 1 : 0;
  shared.within_max += angle <= options.max_angle_degrees ? 1 : 0;
}

/// Whether the third quartile of the angles reaches the min angle and their median is within the max angle.
bool angles_fit(const SharedPoints& shared) {
  return shared.below_min <= (shared.count - 1) * 3 / 4 && shared.within_max > (shared.count - 1) / 2;
}

/// Candidates from what one reference view shares with each view, best first.
/// @param min_weight  min weight of a candidate
std::vector<Candidate> ranked(const std::vector<SharedPoints>& by_source, double min_weight) {
  std::vector<Candidate> candidates;
  for (std::size_t source = 0; source < by_source.size(); ++source) {
    const SharedPoints& shared = by_source[source];
    if (shared.score > 0 && shared.weight >= min_weight && angles_fit(shared))
      candidates.push_back({static_cast<int>(source), shared.score});
  }
  std::ranges::stable_sort(candidates, std::greater(), &Candidate::score);
  return candidates;
}

/// Hash that spreads the start of the subsampled tracks; any fixed bit mixing works.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x9E3779B97F4A7C15ull;
  return value ^ (value >> 29);
}

std::vector<Candidate> by_points(const SceneIndex& index, int reference,
                                 const ViewSelectionOptions& options) {
  const Scene& scene = index.scene;
  std::vector<SharedPoints> by_source(scene.views.size());
  for (const int p : index.visibility.points_of_view[reference]) {
    const std::span<const int> track = index.visibility.views_of_point[p];
    const std::size_t stride = (track.size() + kMaxTrackLength - 1) / kMaxTrackLength;
    const std::size_t start =
        mixed(static_cast<std::uint64_t>(p) * scene.views.size() + static_cast<std::uint64_t>(reference)) %
        stride;
    for (std::size_t i = start; i < track.size(); i += stride)
      if (index.views[track[i]].photo != index.views[reference].photo)
        add_point(index.views, reference, track[i], scene.points[p].position, static_cast<double>(stride),
                  options, by_source[track[i]]);
  }
  return ranked(by_source, kMinShared);
}

/// Estimated depths for a view without observed points: around the median depth of the points in its image,
/// otherwise around the viewing distance, otherwise a multiple of the baseline.
std::vector<double> guessed_depths(const SceneIndex& index, int reference,
                                   const std::vector<int>& neighbours) {
  const ViewGeometry& view = index.views[reference];
  std::vector<double> in_image;
  for (const int p : index.blocks.near_image(view))
    if (const Vec3d x = index.scene.points[p].position; view.sees(x)) in_image.push_back(view.depth(x));
  // The baseline is not that of the nearest view, since views may be video frames.
  const int typical = neighbours[std::min<std::size_t>(neighbours.size(), 4) - 1];
  const double distance = !in_image.empty()
                              ? quantile(in_image, 0.5)
                              : index.distances[reference].value_or(
                                    kDistanceInBaselines * norm(index.views[typical].centre - view.centre));
  std::vector<double> depths;
  for (const double relative : kRelativeDepths) depths.push_back(relative * distance);
  return depths;
}

std::vector<Candidate> by_geometry(const SceneIndex& index, int reference,
                                   const ViewSelectionOptions& options) {
  const SceneGeometry& views = index.views;
  const std::vector<int> neighbours = nearest_views(views, reference, kMaxNeighbours);
  if (neighbours.empty()) return {};
  const ViewGeometry& view = views[reference];
  const std::vector<Vec3d> rays = view.ray_grid(kOverlapRays);
  const std::vector<double> depths = guessed_depths(index, reference, neighbours);
  std::vector<SharedPoints> by_source(static_cast<std::size_t>(views.size()));
  for (const double depth : depths)
    for (const Vec3d ray : rays) {
      const Vec3d x = view.point_at(ray, depth);
      for (const int source : neighbours)
        if (views[source].sees(x)) add_point(views, reference, source, x, 1, options, by_source[source]);
    }
  const double samples = static_cast<double>(depths.size() * rays.size());
  return ranked(by_source, kMinSourceOverlap * samples);
}

/// The share of what a view sees that another one sees too.
double overlap(const SceneGeometry& views, const std::vector<Vec3d>& surface, int other) {
  const auto seen = std::ranges::count_if(surface, [&](const Vec3d& x) { return views[other].sees(x); });
  return static_cast<double>(seen) / static_cast<double>(surface.size());
}

}  // namespace

std::vector<std::vector<int>> overlapping_views(const SceneIndex& index,
                                                const std::vector<ExpectedRange>& expected, int count) {
  const SceneGeometry& views = index.views;
  std::vector<std::vector<int>> result(expected.size());
  parallel_for(views.size(), [&](int v) {
    std::vector<Vec3d> surface;
    for (const double depth :
         {expected[v].near, std::sqrt(expected[v].near * expected[v].far), expected[v].far})
      for (const Vec3d ray : views[v].ray_grid(kOverlapRays))
        surface.push_back(views[v].point_at(ray, depth));
    std::vector<Candidate> candidates;
    for (const int other : nearest_views(views, v, kMaxNeighbours))
      if (const double share = overlap(views, surface, other); share >= kMinSourceOverlap)
        candidates.push_back({other, share});
    std::ranges::stable_sort(candidates, std::greater(), &Candidate::score);
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(count)));
    for (const Candidate& candidate : candidates) result[v].push_back(candidate.view);
  });
  return result;
}

std::vector<std::vector<int>> select_sources(const SceneIndex& index, const ViewSelectionOptions& options) {
  EXPECTS(options.max_sources >= 0 && options.min_angle_degrees <= options.max_angle_degrees);
  std::vector<std::vector<int>> sources(index.scene.views.size());
  parallel_for(index.views.size(), [&](int reference) {
    std::vector<Candidate> best = by_points(index, reference, options);
    if (best.size() < kEnoughSources)
      for (const Candidate& candidate : by_geometry(index, reference, options))
        if (std::ranges::find(best, candidate.view, &Candidate::view) == best.end())
          best.push_back(candidate);
    std::vector<int>& chosen = sources[reference];
    for (std::size_t i = 0; i < std::min(best.size(), static_cast<std::size_t>(options.max_sources)); ++i)
      chosen.push_back(best[i].view);
  });
  return sources;
}

}  // namespace recon
