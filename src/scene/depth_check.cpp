#include "scene/depth_check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace recon {

namespace {

/// Samples of points and of views below which nothing is said.
constexpr std::size_t kMinPointSamples = 30, kMinViewSamples = 200;
/// A scale is another one from this difference of its logarithm on, and from so many median deviations on.
constexpr double kMinScale = 0.05, kMinDeviations = 1.5;
/// Median deviation of the logarithms beyond which depths are none, and have no other scale.
constexpr double kUnrelated = 0.4, kNoOtherScale = 0.14;
/// The logarithm of distances grows by 1 with that of the ray, of depths by 0: max difference from 1, and max
/// standard error.
constexpr double kMaxSlopeError = 0.35, kMaxDeviationOfSlope = 0.12;
/// Depths that differ less agree, in logarithms: of a map and a point, and of two views, where smooth
/// surfaces agree to some percent at any scale.
constexpr double kPointsAgree = 0.03, kViewsAgree = 0.01;
/// Share of agreeing samples that needs no explanation, that an explanation has to reach, and by which factor
/// it has to be more than without.
constexpr double kAgreeing = 0.6, kExplains = 0.3, kBetter = 1.5;
/// Share of the places of views that have to be in their sources for these to need no explanation.
constexpr double kCommonPlaces = 0.2;
/// Distances have to agree better than depths by this factor of the median deviation.
constexpr double kBetterThanDepths = 0.6;

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The median distance of values from `from`.
double deviation_of(std::vector<double> values, double from) {
  for (double& value : values) value = std::abs(value - from);
  return middle_of(std::move(values));
}

/// Logarithms of rays and ratios.
struct LogSamples {
  std::vector<double> ray, ratio;
};

/// A line of the least absolute differences, by weighted least squares.
struct Trend {
  double slope = 0, standard_error = std::numeric_limits<double>::infinity();
};

Trend trend_of(const LogSamples& samples) {
  constexpr int kIterations = 40;
  constexpr double kLeastDifference = 1e-4;  // of a difference: fewer are as good
  const std::size_t n = samples.ray.size();
  double offset = middle_of(samples.ratio), slope = 0, spread = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = samples.ratio[i] - offset - slope * samples.ray[i];
      const double weight = 1 / std::max(std::abs(difference), kLeastDifference);
      w += weight;
      x += weight * samples.ray[i];
      y += weight * samples.ratio[i];
      xx += weight * samples.ray[i] * samples.ray[i];
      xy += weight * samples.ray[i] * samples.ratio[i];
    }
    spread = xx / w - (x / w) * (x / w);
    if (!(spread > 1e-12)) return {};
    slope = (xy / w - (x / w) * (y / w)) / spread;
    offset = (y - slope * x) / w;
  }
  std::vector<double> differences(n);
  for (std::size_t i = 0; i < n; ++i) differences[i] = samples.ratio[i] - offset - slope * samples.ray[i];
  const double sigma = 1.4826 * deviation_of(std::move(differences), 0);
  return {slope, sigma / std::sqrt(spread * static_cast<double>(n))};
}

double share_near(const std::vector<double>& values, double of) {
  const auto near = std::ranges::count_if(values, [&](double v) { return std::abs(v - of) < kPointsAgree; });
  return static_cast<double>(near) / static_cast<double>(values.size());
}

}  // namespace

DepthVerdict judge_depths(std::span<const DepthSample> samples) {
  DepthVerdict verdict{samples.size()};
  if (samples.size() < kMinPointSamples) return verdict;
  LogSamples logs;
  for (const DepthSample& sample : samples) {
    logs.ray.push_back(std::log(sample.ray));
    logs.ratio.push_back(std::log(sample.ratio));
  }
  verdict.agreeing_as_given = share_near(logs.ratio, 0);
  const Trend trend = trend_of(logs);
  verdict.distances =
      std::abs(trend.slope - 1) < kMaxSlopeError && trend.standard_error < kMaxDeviationOfSlope;
  if (verdict.distances)
    for (std::size_t i = 0; i < samples.size(); ++i) logs.ratio[i] -= logs.ray[i];
  const double typical = middle_of(logs.ratio), deviation = deviation_of(logs.ratio, typical);
  const bool other_scale = std::abs(typical) > std::max(kMinScale, kMinDeviations * deviation);
  verdict.unrelated = deviation > (other_scale ? kNoOtherScale : kUnrelated);
  if (verdict.unrelated)
    verdict.distances = false;
  else if (other_scale)
    verdict.scale = std::exp(typical);
  verdict.agreeing = share_near(logs.ratio, std::log(verdict.scale));
  return verdict;
}

namespace {

/// What the depths of a map are taken for.
struct DepthMeaning {
  double scale = 1;  ///< they are so many times too deep
  bool distances = false;
};

/// A pixel of a map, and its ray of depth 1: its length, and in directions of the source's camera.
struct PairPlace {
  int source = 0;
  double depth = 0, ray = 1;
  Vec3d turned{0, 0, 1}, translation{0, 0, 0};
};

/// How well the depths of pairs agree.
struct PairAgreement {
  std::size_t samples = 0;
  double share = 0;      ///< of all places that agree, also of those outside the source
  double of_common = 0;  ///< the same of the samples, where there are enough; else 0
  double deviation = 0;  ///< median difference of logarithms, of those that are not far off
};

/// Places on a grid of the maps of the references of pairs.
std::vector<PairPlace> places_of(std::span<const ComparedView> views,
                                 std::span<const std::pair<int, int>> pairs) {
  constexpr int kGrid = 16;
  std::vector<PairPlace> places;
  for (const auto& [reference, source] : pairs) {
    const ComparedView& view = views[reference];
    const Pose source_from_reference = views[source].cam_from_world * inverse(view.cam_from_world);
    for (int j = 0; j < kGrid; ++j)
      for (int i = 0; i < kGrid; ++i) {
        const int x = (2 * i + 1) * view.depth.width() / (2 * kGrid),
                  y = (2 * j + 1) * view.depth.height() / (2 * kGrid);
        const double depth = view.depth(x, y);
        if (!(depth > 0)) continue;
        const Vec2d at = pixel_centre(x, y);
        const Vec3d ray = view.camera.ray(
            {at.x * view.camera.width / view.depth.width(), at.y * view.camera.height / view.depth.height()});
        places.push_back({source, depth, norm(ray), source_from_reference.rotation * ray,
                          source_from_reference.translation});
      }
  }
  return places;
}

/// Log of the depth that a place has in its source, less that of the source's map there; NaN: unknown.
double difference_at(const PairPlace& place, const ComparedView& source, const DepthMeaning& meaning) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const double depth = place.depth / meaning.scale / (meaning.distances ? place.ray : 1);
  const Vec3d point = depth * place.turned + place.translation;
  if (!(point.z > 0)) return kNone;
  const Vec2d pixel = source.camera.project(point);
  if (!source.camera.contains(pixel)) return kNone;
  const double there = depth_at(source.depth, source.camera, pixel);
  if (!(there > 0)) return kNone;
  return std::log((meaning.distances ? norm(point) : point.z) * meaning.scale / there);
}

PairAgreement agreement_of(std::span<const ComparedView> views, const std::vector<PairPlace>& places,
                           const DepthMeaning& meaning) {
  constexpr double kFarOff = 0.1;
  std::vector<double> near;
  PairAgreement result;
  std::size_t agreeing = 0;
  for (const PairPlace& place : places) {
    const double difference = std::abs(difference_at(place, views[place.source], meaning));
    if (std::isnan(difference)) continue;
    ++result.samples;
    agreeing += difference < kViewsAgree ? 1 : 0;
    if (difference < kFarOff) near.push_back(difference);
  }
  // Places that fall outside count for explanations: a scale at which nothing meets explains nothing. They do
  // not make one needed: views may have little in common.
  const auto all = static_cast<double>(places.size()), common = static_cast<double>(result.samples);
  result.share = places.empty() ? 0 : static_cast<double>(agreeing) / all;
  if (result.samples > 0 && common >= kCommonPlaces * all)
    result.of_common = static_cast<double>(agreeing) / common;
  result.deviation = near.empty() ? kFarOff : middle_of(std::move(near));
  return result;
}

/// The scale with which views agree that do not with the scale 1, for depths or distances; 1: none.
double explaining_scale(std::span<const ComparedView> views, const std::vector<PairPlace>& places,
                        double share_of_one) {
  constexpr double kStep = 0.015, kRange = 9.22;  // of logarithms
  constexpr double kOfPeak = 0.9;
  const auto share = [&](double log_scale) {
    const double scale = std::exp(log_scale);
    return std::max(agreement_of(views, places, {scale, false}).share,
                    agreement_of(views, places, {scale, true}).share);
  };
  std::vector<double> shares;
  for (double log_scale = -kRange; log_scale <= kRange; log_scale += kStep)
    shares.push_back(share(log_scale));
  const auto peak = std::ranges::max_element(shares);
  const double most = *peak;
  const auto is_below = [&](double it) { return it < kOfPeak * most; };
  const auto end = std::find_if(peak, shares.end(), is_below);
  const auto begin = std::find_if(std::reverse_iterator(peak), shares.rend(), is_below).base();
  const double middle = static_cast<double>(begin - shares.begin() + end - shares.begin() - 1) / 2;
  const double best = middle * kStep - kRange, ten = std::log(10.0);
  if (std::abs(best) < kMinScale) return 1;
  // Where it agrees at all large scales, or all small ones, there is no baseline to tell.
  const bool is_peak = kBetter * std::max(share(best + ten), share(best - ten)) < most;
  return most > kExplains && most > kBetter * share_of_one && is_peak ? std::exp(best) : 1;
}

}  // namespace

float depth_at(const Image<float>& map, const Pinhole& camera, Vec2d pixel) {
  // Below the size of the map also where it is rounded.
  const auto x = static_cast<int>(pixel.x * map.width() / camera.width),
             y = static_cast<int>(pixel.y * map.height() / camera.height);
  return map(x, y);
}

DepthVerdict judge_depth_views(std::span<const ComparedView> views,
                               std::span<const std::pair<int, int>> pairs) {
  const std::vector<PairPlace> places = places_of(views, pairs);
  DepthVerdict verdict{places.size()};
  if (places.size() < kMinViewSamples) return verdict;
  PairAgreement depths = agreement_of(views, places, {1, false}),
                distances = agreement_of(views, places, {1, true});
  verdict.agreeing_as_given = depths.share;
  if (std::max(depths.of_common, distances.of_common) < kAgreeing) {
    verdict.scale = explaining_scale(views, places, std::max(depths.share, distances.share));
    depths = agreement_of(views, places, {verdict.scale, false});
    distances = agreement_of(views, places, {verdict.scale, true});
  }
  verdict.distances = distances.share > kExplains && distances.share >= depths.share &&
                      distances.deviation < kBetterThanDepths * depths.deviation;
  verdict.agreeing = verdict.distances ? distances.share : depths.share;
  return verdict;
}

}  // namespace recon
