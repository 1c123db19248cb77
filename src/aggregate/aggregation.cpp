#include "aggregate/aggregation.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/parallel.hpp"

namespace recon {
namespace {

/// Pixels of the windows about all pixels of a line, clipped to it.
double clipped_windows(double length, double radius) {
  const double reach = std::min(radius, length - 1);
  return length * (2 * reach + 1) - reach * (reach + 1);
}

/// Samples of the windows about all pixels; of a CPU with `sums` more for each row of a window.
double adaptive_weights(int width, int height, int radius, int threads, double sums) {
  const double rows = clipped_windows(height, radius);
  if (threads == 0) return clipped_windows(width, radius) * rows;
  // Rows have every neighbour to their left and right; a vector of floats at a time.
  constexpr int kLanes = 16;
  const double columns = (width + kLanes - 1) / kLanes * kLanes;
  return columns * (2 * radius + 1 + sums) * shared_evenly(rows, height, threads);
}

using Colours = SupportViews<Rgb8>;
using Arms = SupportViews<Cross>;

Volume<float> same(Volume<float> costs, const Colours&, const Arms&, const AggregationOptions&, float) {
  return costs;
}

AggregationWork no_work(int, int, int, const AggregationOptions&, int) {
  return {};
}

Volume<float> window_means(Volume<float> costs, const Colours&, const Arms&,
                           const AggregationOptions& options, float max_cost) {
  Volume<float> means(costs.width(), costs.planes(), costs.height());
  constant_window(costs.view(), options.constant_radius, max_cost, means.view());
  return means;
}

AggregationWork window_work(int width, int height, int planes, const AggregationOptions& options, int) {
  const double samples = static_cast<double>(width) * height * planes;
  return {"cw", options.constant_radius, 0, samples, 16 * samples};
}

Volume<float> weighted_means(Volume<float> costs, const Colours& colours, const Arms&,
                             const AggregationOptions& options, float) {
  Volume<float> means(costs.width(), costs.planes(), costs.height());
  adaptive_weight(colours, options.adaptive_weight, costs.view(), means.view());
  return means;
}

AggregationWork weights_work(int width, int height, int planes, const AggregationOptions& options,
                             int threads) {
  const int radius = options.adaptive_weight.radius;
  const auto weights = [&](double sums) { return adaptive_weights(width, height, radius, threads, sums); };
  return {"aw", radius, 2 * (static_cast<double>(width) * height), planes * weights(1), 8 * weights(0)};
}

Volume<float> cross_means(Volume<float> costs, const Colours&, const Arms& arms,
                          const AggregationOptions& options, float max_cost) {
  cross_based(arms, options.cross_based, max_cost, costs.view());
  return costs;
}

AggregationWork cross_work(int width, int height, int planes, const AggregationOptions& options,
                           int threads) {
  const double area = static_cast<double>(width) * height, samples = area * planes;
  const int iterations = options.cross_based.iterations;
  const double shared = threads > 0 ? shared_evenly(samples, planes, threads) : samples;
  return {"cross" + std::to_string(iterations), options.cross.reach, 2 * area, 2 * iterations * shared,
          16 * samples * iterations};
}

}  // namespace

const Aggregator kAggregators[] = {
    {Aggregation::kNone, "none", "", false, SupportGuide::kNone, same, no_work},
    {Aggregation::kConstantWindow, "cw", "constant window", true, SupportGuide::kNone, window_means,
     window_work},
    {Aggregation::kAdaptiveWeight, "aw", "adaptive weights, slow", true, SupportGuide::kColours,
     weighted_means, weights_work},
    {Aggregation::kCrossBased, "cross", "arms that end at colour edges", false, SupportGuide::kArms,
     cross_means, cross_work}};

Volume<float> aggregated(Volume<float> costs, const Colours& colours, const Arms& arms,
                         const AggregationOptions& options, float max_cost) {
  return aggregator_of(options).run(std::move(costs), colours, arms, options, max_cost);
}

}  // namespace recon
