#include "aggregate/aggregation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

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

}  // namespace

bool has_gaps(VolumeView<const float> costs, int d) {
  for (int y = 0; y < costs.height; ++y) {
    const float* row = costs.row(y, d);
    int infinite = 0;
    for (int x = 0; x < costs.width; ++x) infinite += row[x] > std::numeric_limits<float>::max();
    if (infinite > 0) return true;
  }
  return false;
}

Volume<float> aggregated(Volume<float> costs, const SupportViews<Rgb8>& colours,
                         const SupportViews<Cross>& arms, const AggregationOptions& options, float max_cost) {
  const auto result = [&] { return Volume<float>(costs.width(), costs.planes(), costs.height()); };
  switch (options.kind) {
    case Aggregation::kNone:
      break;
    case Aggregation::kConstantWindow: {
      Volume<float> means = result();
      constant_window(costs.view(), options.constant_radius, max_cost, means.view());
      return means;
    }
    case Aggregation::kAdaptiveWeight: {
      Volume<float> means = result();
      adaptive_weight(colours, options.adaptive_weight, costs.view(), means.view());
      return means;
    }
    case Aggregation::kCrossBased:
      cross_based(arms, options.cross_based, max_cost, costs.view());
      break;
  }
  return costs;
}

std::size_t aggregation_bytes(int width, int height, int planes, const AggregationOptions& options,
                              int threads) {
  constexpr std::ptrdiff_t kMargin = 64;  // more than the padding of a row
  const std::ptrdiff_t row = std::ptrdiff_t{width} + kMargin;
  const std::ptrdiff_t radius = options.adaptive_weight.radius, wide = row + 2 * radius;
  switch (options.kind) {
    case Aggregation::kNone:
      return 0;
    case Aggregation::kConstantWindow:
      // Column sums of four planes, and their prefix sums.
      return Volume<float>::bytes(width, planes, height) + element_count({threads, row, 8, sizeof(double)});
    case Aggregation::kAdaptiveWeight:
      // CIELab of both views; per thread the weights of both views, padded by the width of the other view on
      // each side, and the sums of a row of all planes.
      return Volume<float>::bytes(width, planes, height) +
             element_count({2, 3, height, wide, sizeof(float)}) +
             element_count({threads, 2 * radius + 1, 4 * row, sizeof(float)}) +
             element_count({threads, 2 * std::ptrdiff_t{planes} + 1, wide, sizeof(float)});
    case Aggregation::kCrossBased:
      // Per thread the common arms of a plane, two counts, and column sums of costs and of ones.
      return element_count({std::min(threads, planes), std::ptrdiff_t{height} + 4, row,
                            sizeof(Cross) + 3 * sizeof(std::int32_t) + sizeof(double)});
  }
  return 0;
}

AggregationWork aggregation_work(int width, int height, int planes, const AggregationOptions& options,
                                 int threads) {
  const double area = static_cast<double>(width) * height, samples = area * planes, pixels = 2 * area;
  const int iterations = options.cross_based.iterations, radius = options.adaptive_weight.radius;
  switch (options.kind) {
    case Aggregation::kNone:
      return {};
    case Aggregation::kConstantWindow:
      return {"cw", options.constant_radius, 0, samples, 16 * samples};
    case Aggregation::kAdaptiveWeight:
      return {"aw", radius, pixels, planes * adaptive_weights(width, height, radius, threads, 1),
              8 * adaptive_weights(width, height, radius, threads, 0)};
    case Aggregation::kCrossBased: {
      const double shared = threads > 0 ? shared_evenly(samples, planes, threads) : samples;
      return {"cross" + std::to_string(iterations), options.cross.reach, pixels, 2 * iterations * shared,
              16 * samples * iterations};
    }
  }
  return {};
}

}  // namespace recon
