#include "scene/map_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace recon {

namespace {

using Pairs = std::span<const std::pair<int, int>>;

/// Places below which nothing is said: of all pairs, and of a view.
constexpr std::size_t kMinSamples = 200, kMinViewSamples = 60;
/// Pairs, spread over all, by which a reading of all maps is found.
constexpr std::size_t kReadingPairs = 16;
/// Depths agree whose logarithms differ less: of smooth surfaces they do to some percent at any scale.
constexpr double kAgree = 0.01;
/// Share of agreeing places that a reading has to reach, and by which factor it has to be more than without.
constexpr double kExplains = 0.3, kBetter = 1.5;
/// Share that needs no explanation, but perhaps a scale that is nearly 1.
constexpr double kAgreeing = 0.6;
/// Share of the places of views that have to be in their sources for these to need no explanation.
constexpr double kCommonPlaces = 0.2;
/// Share of the places of a view that are nearly none.
constexpr double kNothingSeen = 0.02;
/// Smallest logarithm of another scale of all maps and of one map.
constexpr double kMinScale = 0.025, kMinOwnScale = 0.05;
/// By which factor the score has to be more where as many agree.
constexpr double kCloser = 1.3;
/// Distances have to agree better than depths by this factor of the median difference.
constexpr double kBetterThanDepths = 0.6;

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A pixel of a map, and its ray of depth 1: its length, and in directions of the source's camera.
struct Place {
  int source = 0;
  double value = 0, ray = 1;
  Vec3d turned{0, 0, 1}, translation{0, 0, 0};
};

/// Logarithms of the values at a place of a source: by the reference's map, and by its own.
struct Met {
  double expected = 0, there = 0;
  double difference() const { return expected - there; }
};

/// The value of a map of a depth on a ray of some length.
double value_of(double depth, double ray, const MapReading& reading) {
  switch (reading.meaning) {
    case DepthMeaning::kDistance:
      return depth * ray * reading.scale;
    case DepthMeaning::kDisparity:
      return reading.scale / depth;
    default:
      return depth * reading.scale;
  }
}

double depth_of(double value, double ray, const MapReading& reading) {
  switch (reading.meaning) {
    case DepthMeaning::kDistance:
      return value / reading.scale / ray;
    case DepthMeaning::kDisparity:
      return reading.scale / value;
    default:
      return value / reading.scale;
  }
}

class Maps {
 public:
  explicit Maps(std::span<const ComparedView> views, std::pair<int, int> exchanged = kNotExchanged)
      : views_(views), exchanged_(exchanged) {}

  int count() const { return static_cast<int>(views_.size()); }

  /// Places on a grid of the maps of the references of pairs.
  std::vector<Place> places(Pairs pairs, const MapReading& reading) const {
    constexpr int kGrid = 16;
    std::vector<Place> places;
    for (const auto& [reference, source] : pairs) {
      const ComparedView& view = views_[reference];
      const Pose source_from_reference = views_[source].cam_from_world * inverse(view.cam_from_world);
      for (int j = 0; j < kGrid; ++j)
        for (int i = 0; i < kGrid; ++i) {
          // At the centre of a pixel of the map.
          const int width = view.map.width(), height = view.map.height();
          const Vec2d pixel =
              pixel_centre((2 * i + 1) * width / (2 * kGrid), (2 * j + 1) * height / (2 * kGrid));
          const Vec2d at{pixel.x * view.camera.width / width, pixel.y * view.camera.height / height};
          const double value = value_at(reference, at, reading);
          if (!(value > 0)) continue;
          const Vec3d ray = view.camera.ray(at);
          places.push_back({source, value, norm(ray), source_from_reference.rotation * ray,
                            source_from_reference.translation});
        }
    }
    return places;
  }

  /// Where a place lies in its source, in the frame of its camera; nothing where that does not see it.
  std::optional<Vec3d> seen(const Place& place, const MapReading& reading) const {
    const Vec3d point = depth_of(place.value, place.ray, reading) * place.turned + place.translation;
    const Pinhole& camera = views_[place.source].camera;
    return point.z > 0 && camera.contains(camera.project(point)) ? std::optional(point) : std::nullopt;
  }

  /// What a place has in its source; nothing where that does not know it.
  std::optional<Met> meet(const Place& place, const MapReading& reading) const {
    const std::optional<Vec3d> point = seen(place, reading);
    if (!point) return std::nullopt;
    const double there = value_at(place.source, views_[place.source].camera.project(*point), reading);
    if (!(there > 0)) return std::nullopt;
    return Met{std::log(value_of(point->z, norm(*point) / point->z, reading)), std::log(there)};
  }

 private:
  float value_at(int view, Vec2d pixel, const MapReading& reading) const {
    int other = (view + reading.next) % count();
    if (other == exchanged_.first || other == exchanged_.second)
      other = exchanged_.first + exchanged_.second - other;
    return depth_at(views_[other].map, views_[view].camera, pixel, reading.layout);
  }

  std::span<const ComparedView> views_;
  std::pair<int, int> exchanged_;
};

/// How well the maps of pairs agree.
struct Agreement {
  double share = 0;      ///< of all places that agree, also of those outside the source
  double of_common = 0;  ///< of those that both maps know; 0 where these are few
  double deviation = 0;  ///< median difference of logarithms, of those that are not far off

  /// More where more agrees, and more closely.
  double score() const { return share / std::max(deviation, 1e-3); }
};

Agreement agreement_of(const Maps& maps, const std::vector<Place>& places, const MapReading& reading) {
  constexpr double kFarOff = 0.1;
  std::vector<double> near;
  std::size_t common = 0, agreeing = 0;
  for (const Place& place : places) {
    const std::optional<Met> met = maps.meet(place, reading);
    if (!met) continue;
    const double difference = std::abs(met->difference());
    ++common;
    agreeing += difference < kAgree ? 1 : 0;
    if (difference < kFarOff) near.push_back(difference);
  }
  const auto part = [&](std::size_t of) {
    return of == 0 ? 0.0 : static_cast<double>(agreeing) / static_cast<double>(of);
  };
  // Places that fall outside count for explanations: a scale at which nothing meets explains nothing. They do
  // not make one needed: views may have little in common.
  const bool enough = static_cast<double>(common) >= kCommonPlaces * static_cast<double>(places.size());
  return {part(places.size()), enough ? part(common) : 0,
          near.empty() ? kFarOff : middle_of(std::move(near))};
}

/// The scale with which maps of some meaning agree best: of all scales, or of those near 1 the one with which
/// they agree most closely. 1: they agree at many scales.
double best_scale(const Maps& maps, const std::vector<Place>& places, MapReading reading, bool all_scales) {
  constexpr double kStep = 0.015, kOfPeak = 0.9, kAllScales = 9.22, kNearScales = 0.42;
  const auto score = [&](double log_scale) {
    reading.scale = std::exp(log_scale);
    const Agreement it = agreement_of(maps, places, reading);
    return all_scales ? it.share : it.score();
  };
  std::vector<double> scores;
  const int steps = static_cast<int>((all_scales ? kAllScales : kNearScales) / kStep);
  for (int i = -steps; i <= steps; ++i) scores.push_back(score(i * kStep));
  const auto peak = std::ranges::max_element(scores);
  const double most = *peak;
  const auto is_below = [&](double it) { return it < kOfPeak * most; };
  const auto end = std::find_if(peak, scores.end(), is_below);
  const auto begin = std::find_if(std::reverse_iterator(peak), scores.rend(), is_below).base();
  const double middle = static_cast<double>(begin - scores.begin() + end - scores.begin() - 1) / 2;
  const double best = (middle - steps) * kStep, ten = std::log(10.0);
  // Where it agrees at all large scales, or all small ones, there is no baseline to tell.
  const bool is_peak = kBetter * std::max(score(best + ten), score(best - ten)) < most;
  return is_peak ? std::exp(best) : 1;
}

/// The reading with which the maps agree much better than as they are.
class Readings {
 public:
  Readings(const Maps& maps, Pairs pairs)
      : maps_(maps),
        pairs_(pairs),
        places_(maps.places(pairs, {})),
        as_given_(agreement_of(maps, places_, {})) {}

  MapReading best() {
    const bool in_doubt = as_given_.of_common < kAgreeing;
    consider_scale({DepthMeaning::kDepth}, in_doubt);
    consider_scale({DepthMeaning::kDistance}, in_doubt);
    if (!in_doubt) return best_;
    least_ *= kLessLikely;
    consider_scale({DepthMeaning::kDisparity}, in_doubt);
    for (const MapLayout layout : {MapLayout::kMirrored, MapLayout::kUpsideDown, MapLayout::kTurned})
      consider({DepthMeaning::kDepth, 1, layout});
    for (int next = 1; next < std::min(maps_.count(), kMostOthers); ++next)
      consider({DepthMeaning::kDepth, 1, MapLayout::kUpright, next});
    return best_;
  }

 private:
  static constexpr int kMostOthers = 64;
  static constexpr double kLessLikely = 1.2;  // a flat surface has inverse depths that agree as well

  void consider_scale(MapReading reading, bool all_scales) {
    reading.scale = best_scale(maps_, places_, reading, all_scales);
    if (reading.meaning != DepthMeaning::kDisparity && std::abs(std::log(reading.scale)) < kMinScale)
      reading.scale = 1;
    consider(reading);
  }

  void consider(const MapReading& reading) {
    const Agreement with = agreement_with(reading);
    const bool better = with.share > kBetter * as_given_.share ||
                        (with.share >= as_given_.share && with.score() > kCloser * as_given_.score());
    if (!better || with.share <= least_) return;
    if (reading.meaning == DepthMeaning::kDistance) {
      const Agreement depths = agreement_with({DepthMeaning::kDepth, reading.scale});
      if (with.share < depths.share || with.deviation >= kBetterThanDepths * depths.deviation) return;
    }
    least_ = with.share;
    best_ = reading;
  }

  Agreement agreement_with(const MapReading& reading) const {
    const bool same_places = reading.layout == MapLayout::kUpright && reading.next == 0;
    return agreement_of(maps_, same_places ? places_ : maps_.places(pairs_, reading), reading);
  }

  const Maps& maps_;
  const Pairs pairs_;
  const std::vector<Place> places_;
  const Agreement as_given_;
  double least_ = kExplains;
  MapReading best_;
};

/// What a pair says of its maps.
struct PairScales {
  double of_reference = 1, of_source = 1;
  double agreeing = 0, as_given = 0;  ///< shares of the places
};

/// The largest share of values within kAgree of one of them, and that one.
std::pair<double, double> mode_of(std::vector<double>& values, std::size_t all) {
  std::ranges::sort(values);
  std::size_t most = 0, begin = 0;
  double mode = 0;
  for (std::size_t end = 0; end < values.size(); ++end) {
    while (values[end] - values[begin] > 2 * kAgree) ++begin;
    if (end - begin + 1 <= most) continue;
    most = end - begin + 1;
    mode = values[(begin + end) / 2];
  }
  return {static_cast<double>(most) / static_cast<double>(all), mode};
}

/// The scales of the two maps of a pair with which they agree best; nearest to 1 where many do as well.
PairScales scales_of(const Maps& maps, const std::vector<Place>& places, const MapReading& reading) {
  constexpr double kStep = 0.04;
  constexpr int kSteps = 35;
  constexpr double kAsGood = 1.05;
  PairScales best;
  std::vector<double> differences;
  for (int i = 0; i <= 2 * kSteps; ++i) {
    const double log_scale = kStep * (i % 2 == 0 ? i / 2 : -(i + 1) / 2);  // 0, -1, 1, -2, ...
    MapReading scaled = reading;
    scaled.scale *= std::exp(log_scale);
    differences.clear();
    for (const Place& place : places)
      if (const std::optional<Met> met = maps.meet(place, scaled)) differences.push_back(met->difference());
    if (i == 0)
      best.as_given = static_cast<double>(std::ranges::count_if(
                          differences, [](double it) { return std::abs(it) < kAgree; })) /
                      static_cast<double>(places.size());
    const auto [share, mode] = mode_of(differences, places.size());
    if (share <= kAsGood * best.agreeing) continue;
    best.agreeing = share;
    best.of_reference = std::exp(log_scale);
    best.of_source = std::exp(log_scale - mode);
  }
  return best;
}

/// What the pairs of a view say of it.
struct ViewCounts {
  std::size_t pairs = 0, places = 0, seen = 0, samples = 0, agreeing = 0, by_chance = 0;
  std::vector<double> log_scales;  ///< of the pairs that agree, perhaps with other scales
};

/// Adds what a pair says to both of its views.
void add_pair(const Maps& maps, const std::vector<Place>& places, const MapReading& reading,
              ViewCounts& reference, ViewCounts& source) {
  constexpr double kRoughly = 0.03;
  std::vector<Met> met;
  for (const Place& place : places)
    if (const std::optional<Met> it = maps.meet(place, reading)) met.push_back(*it);
  const auto seen = static_cast<std::size_t>(std::ranges::count_if(
      places, [&](const Place& place) { return maps.seen(place, reading).has_value(); }));
  std::size_t agreeing = 0, by_chance = 0;
  for (std::size_t i = 0; i < met.size(); ++i) {
    agreeing += std::abs(met[i].difference()) < kRoughly ? 1 : 0;
    const double other = met[(i + met.size() / 2) % met.size()].there;
    by_chance += std::abs(met[i].expected - other) < kRoughly ? 1 : 0;
  }
  const bool agree = static_cast<double>(agreeing) > kAgreeing * static_cast<double>(met.size());
  const PairScales scales = agree ? PairScales{1, 1, 1, 1} : scales_of(maps, places, reading);
  const bool other_scales = scales.agreeing > std::max(kExplains, kBetter * scales.as_given);
  for (ViewCounts* view : {&reference, &source}) {
    ++view->pairs;
    view->places += places.size();
    view->seen += seen;
    view->samples += met.size();
    view->agreeing += agreeing;
    view->by_chance += by_chance;
    if (std::max(scales.agreeing, scales.as_given) < kExplains) continue;
    const double scale = view == &reference ? scales.of_reference : scales.of_source;
    view->log_scales.push_back(other_scales ? std::log(scale) : 0);
  }
}

MapAgreement agreement_by(const ViewCounts& counts) {
  MapAgreement view{counts.samples >= kMinViewSamples};
  if (!view.judged) {
    // Sources see much of what a view does: where they see none of its depths, these are wrong.
    view.judged = counts.places >= kMinViewSamples &&
                  static_cast<double>(counts.seen) < kNothingSeen * static_cast<double>(counts.places);
    view.fits = !view.judged;
    return view;
  }
  view.agreeing = static_cast<double>(counts.agreeing) / static_cast<double>(counts.samples);
  view.by_chance = static_cast<double>(counts.by_chance) / static_cast<double>(counts.samples);
  view.fits = 2 * counts.log_scales.size() >= counts.pairs;
  if (counts.log_scales.empty()) return view;
  const double log_scale = middle_of(counts.log_scales);
  if (view.agreeing < kAgreeing && std::abs(log_scale) > kMinOwnScale) view.own_scale = std::exp(log_scale);
  return view;
}

/// Pairs that are spread over all.
std::vector<std::pair<int, int>> spread_pairs(Pairs pairs) {
  std::vector<std::pair<int, int>> some;
  const std::size_t count = std::min(kReadingPairs, pairs.size());
  for (std::size_t i = 0; i < count; ++i) some.push_back(pairs[i * pairs.size() / count]);
  return some;
}

}  // namespace

double agreeing_share(std::span<const ComparedView> views, Pairs pairs, const MapReading& reading,
                      std::pair<int, int> exchanged) {
  const Maps maps(views, exchanged);
  return agreement_of(maps, maps.places(pairs, reading), reading).share;
}

MapsVerdict judge_maps(std::span<const ComparedView> views, Pairs pairs) {
  const Maps maps(views);
  MapsVerdict verdict;
  verdict.views.resize(views.size());
  const std::vector<std::pair<int, int>> some = spread_pairs(pairs);
  verdict.samples = maps.places(some, {}).size();
  if (verdict.samples < kMinSamples) return verdict;
  verdict.reading = Readings(maps, some).best();
  verdict.as_given = agreeing_share(views, some, {});
  verdict.agreeing = agreeing_share(views, some, verdict.reading);
  std::vector<ViewCounts> counts(views.size());
  for (const auto& pair : pairs) {
    const std::vector<Place> places = maps.places({&pair, 1}, verdict.reading);
    if (!places.empty()) add_pair(maps, places, verdict.reading, counts[pair.first], counts[pair.second]);
  }
  std::ranges::transform(counts, verdict.views.begin(), agreement_by);
  return verdict;
}

}  // namespace recon
