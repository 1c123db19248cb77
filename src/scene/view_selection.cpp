#include "scene/view_selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/quantile.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

std::vector<int> covering_sources(std::span<const std::vector<SampleScore>> sources,
                                  std::span<const double> weights, int count) {
  constexpr double kChosen = -1;
  std::vector<double> covered(weights.size(), 0.0);
  const auto gain = [&](std::size_t source) {
    double sum = 0;
    for (const SampleScore& shown : sources[source])
      sum += weights[shown.sample] * static_cast<double>(shown.score) / (kHalfShown + covered[shown.sample]);
    return sum;
  };
  // What a source adds only falls as others are chosen: a value from before is an upper bound.
  std::vector<double> bounds(sources.size(), std::numeric_limits<double>::infinity());
  std::vector<int> chosen;
  const std::size_t wanted = std::min(sources.size(), static_cast<std::size_t>(std::max(count, 0)));
  while (chosen.size() < wanted) {
    const auto most = std::ranges::max_element(bounds);
    const auto source = static_cast<std::size_t>(most - bounds.begin());
    const double now = gain(source);
    if (now < *most) {
      *most = now;
      continue;
    }
    *most = kChosen;
    chosen.push_back(static_cast<int>(source));
    for (const SampleScore& shown : sources[source])
      covered[shown.sample] += static_cast<double>(shown.score);
  }
  return chosen;
}
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
/// The image is divided into so many cells each way, with at most so many samples of the sparse points each.
constexpr int kSampleCells = 8;
constexpr std::size_t kCellSamples = 4;
constexpr int kNoSample = -1;

/// The points that a view shares with a source.
struct SharedPoints {
  double weight = 0;  ///< the number of points, with those that they represent
  std::size_t count = 0, below_min = 0, within_max = 0;  ///< without those, all and by their angles
  bool useful = false;                                   ///< whether the pair can match any of them
};

/// What the sources of one reference view share with it.
struct SharedViews {
  struct Shown {
    int source;
    SampleScore of;
  };
  explicit SharedViews(std::size_t views) : by_source(views) {}

  std::vector<SharedPoints> by_source;
  std::vector<Shown> shown;     ///< samples
  std::vector<double> weights;  ///< of the samples
};

/// Points of a reference view that stand for parts of its image.
struct Samples {
  std::vector<int> of_point;  ///< index of its sample, of each point that the view sees; kNoSample for most
  std::vector<double> weights;
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

/// A limit of the angle between two vectors, compared by its cosine.
class AngleLimit {
 public:
  explicit AngleLimit(double degrees) {
    const double cosine = std::cos(std::clamp(degrees, 0.0, 180.0) * std::numbers::pi / 180);
    square_ = cosine * std::abs(cosine);
  }

  /// Whether the angle exceeds it; empty where they are so close that the rounding of the angle decides, and
  /// where there is none.
  /// @param cosine  dot product of the vectors
  /// @param squares  product of the squares of their lengths
  std::optional<bool> exceeded(double cosine, double squares) const {
    constexpr double kRounding = 1e-6;  // that of an angle to a float, in radians, is at most 1.4e-7
    const double square = cosine * std::abs(cosine);
    if (square > (square_ + kRounding) * squares) return false;
    if (square < (square_ - kRounding) * squares) return true;
    return std::nullopt;
  }

 private:
  double square_;  ///< of the cosine, with its sign
};

/// The options of a selection.
struct Criteria {
  explicit Criteria(const ViewSelectionOptions& of)
      : options(of), min(of.min_angle_degrees), max(of.max_angle_degrees) {}

  const ViewSelectionOptions& options;
  AngleLimit min, max;
};

/// A point that the reference view sees.
struct SeenPoint {
  Vec3d x;
  double weight;  ///< the number of points that it represents
  int sample;     ///< index of the sample that it is, or kNoSample
};

/// Most points need no angle, which takes several times as long as to compare it with the limits: it matters
/// for samples alone, and for the first point that is useful.
void add_point(const SceneGeometry& views, int reference, int source, const SeenPoint& point,
               const Criteria& criteria, SharedViews& all) {
  const ViewGeometry &r = views[reference], &s = views[source];
  SharedPoints& shared = all.by_source[source];
  shared.weight += point.weight;
  shared.count += 1;
  const Vec3d a = r.centre - point.x, b = s.centre - point.x;
  const double cosine = dot(a, b), squares = dot(a, a) * dot(b, b);
  const std::optional<bool> min = criteria.min.exceeded(cosine, squares),
                            max = criteria.max.exceeded(cosine, squares);
  if (min && max && (*max || (shared.useful && point.sample == kNoSample))) {
    shared.below_min += *min ? 0 : 1;
    shared.within_max += *max ? 0 : 1;
    return;
  }
  const double exact_angle = triangulation_angle(point.x, r.centre, s.centre);
  const double ratio = (norm(point.x - r.centre) / r.focal) / (norm(point.x - s.centre) / s.focal);
  const double quality = angle_weight(exact_angle, criteria.options) * scale_weight(ratio);
  const double angle = static_cast<double>(static_cast<float>(exact_angle));
  shared.below_min += angle < criteria.options.min_angle_degrees ? 1 : 0;
  shared.within_max += angle <= criteria.options.max_angle_degrees ? 1 : 0;
  shared.useful |= quality > 0;
  if (point.sample != kNoSample && quality > 0)
    all.shown.push_back({source, {point.sample, static_cast<float>(quality)}});
}

/// Whether the third quartile of the angles reaches the min angle and their median is within the max angle.
bool angles_fit(const SharedPoints& shared) {
  return shared.below_min <= (shared.count - 1) * 3 / 4 && shared.within_max > (shared.count - 1) / 2;
}

/// The sources among the views with which one reference view shares enough, best first.
/// @param min_weight  min weight of what is shared
std::vector<int> best_sources(const SharedViews& all, double min_weight, int count) {
  std::vector<int> views, position(all.by_source.size(), -1);
  for (std::size_t source = 0; source < all.by_source.size(); ++source) {
    const SharedPoints& shared = all.by_source[source];
    if (!shared.useful || shared.weight < min_weight || !angles_fit(shared)) continue;
    position[source] = static_cast<int>(views.size());
    views.push_back(static_cast<int>(source));
  }
  std::vector<std::vector<SampleScore>> shown(views.size());
  for (const SharedViews::Shown& s : all.shown)
    if (position[s.source] >= 0) shown[position[s.source]].push_back(s.of);
  std::vector<int> best;
  for (const int i : covering_sources(shown, all.weights, count)) best.push_back(views[i]);
  return best;
}

/// Hash that spreads the start of the subsampled tracks; any fixed bit mixing works.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x9E3779B97F4A7C15ull;
  return value ^ (value >> 29);
}

/// The image in cells of equal weight, each with some of the points in it, so that the sources of a view are
/// chosen for all of its image and not for those parts that have most points.
Samples spread_samples(const SceneIndex& index, int reference) {
  const ViewGeometry& view = index.views[reference];
  const std::span<const int> points = index.visibility.points_of_view[reference];
  std::vector<std::vector<std::size_t>> cells(kSampleCells * kSampleCells);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::optional<Vec2d> pixel =
        view.lens->project(view.cam_from_world * index.scene.points[points[i]].position);
    if (!pixel) continue;
    const auto cell = [](double at, int size) {  // 0 also for NaN
      return static_cast<int>(std::min(std::max(0.0, at / size * kSampleCells), kSampleCells - 1.0));
    };
    cells[cell(pixel->y, view.height) * kSampleCells + cell(pixel->x, view.width)].push_back(i);
  }
  Samples samples{std::vector<int>(points.size(), kNoSample), {}};
  for (const std::vector<std::size_t>& cell : cells) {
    const std::size_t count = std::min(cell.size(), kCellSamples);
    for (std::size_t k = 0; k < count; ++k) {
      samples.of_point[cell[k * cell.size() / count]] = static_cast<int>(samples.weights.size());
      samples.weights.push_back(1.0 / static_cast<double>(count));
    }
  }
  return samples;
}

std::vector<int> by_points(const SceneIndex& index, int reference, const Criteria& criteria) {
  const Scene& scene = index.scene;
  const std::span<const int> points = index.visibility.points_of_view[reference];
  Samples samples = spread_samples(index, reference);
  SharedViews all(scene.views.size());
  all.weights = std::move(samples.weights);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const int p = points[k];
    const std::span<const int> track = index.visibility.views_of_point[p];
    const std::size_t stride = (track.size() + kMaxTrackLength - 1) / kMaxTrackLength;
    const std::size_t start =
        mixed(static_cast<std::uint64_t>(p) * scene.views.size() + static_cast<std::uint64_t>(reference)) %
        stride;
    const SeenPoint point{scene.points[p].position, static_cast<double>(stride), samples.of_point[k]};
    for (std::size_t i = start; i < track.size(); i += stride)
      if (index.views[track[i]].photo != index.views[reference].photo)
        add_point(index.views, reference, track[i], point, criteria, all);
  }
  return best_sources(all, kMinShared, criteria.options.max_sources);
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

std::vector<int> by_geometry(const SceneIndex& index, int reference, const Criteria& criteria) {
  const SceneGeometry& views = index.views;
  const std::vector<int> neighbours = nearest_views(views, reference, kMaxNeighbours);
  if (neighbours.empty()) return {};
  const ViewGeometry& view = views[reference];
  const std::vector<Vec3d> rays = view.ray_grid(kOverlapRays);
  const std::vector<double> depths = guessed_depths(index, reference, neighbours);
  SharedViews all(static_cast<std::size_t>(views.size()));
  for (const double depth : depths)
    for (const Vec3d ray : rays) {
      const SeenPoint point{view.point_at(ray, depth), 1, static_cast<int>(all.weights.size())};
      all.weights.push_back(1);
      for (const int source : neighbours)
        if (views[source].sees(point.x)) add_point(views, reference, source, point, criteria, all);
    }
  return best_sources(all, kMinSourceOverlap * static_cast<double>(all.weights.size()),
                      criteria.options.max_sources);
}

/// The share of what a view sees that another one sees too.
double overlap(const SceneGeometry& views, const std::vector<Vec3d>& surface, int other) {
  const auto seen = std::ranges::count_if(surface, [&](const Vec3d& x) { return views[other].sees(x); });
  return static_cast<double>(seen) / static_cast<double>(surface.size());
}

}  // namespace

std::vector<std::vector<int>> overlapping_views(const SceneIndex& index,
                                                const std::vector<DepthRange>& expected, int count) {
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
  const Criteria criteria(options);
  std::vector<std::vector<int>> sources(index.scene.views.size());
  parallel_for(index.views.size(), [&](int reference) {
    std::vector<int>& best = sources[reference];
    best = by_points(index, reference, criteria);
    if (best.size() < kEnoughSources)
      for (const int view : by_geometry(index, reference, criteria))
        if (std::ssize(best) < options.max_sources && std::ranges::find(best, view) == best.end())
          best.push_back(view);
  });
  return sources;
}

}  // namespace recon
