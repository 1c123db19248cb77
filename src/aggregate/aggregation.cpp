#include "aggregate/aggregation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace recon {

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
  if (options.kind == Aggregation::kNone) return costs;
  if (options.kind == Aggregation::kCrossBased) {
    cross_based(arms, options.cross_based, max_cost, costs.view());
    return costs;
  }
  Volume<float> result(costs.width(), costs.planes(), costs.height());
  if (options.kind == Aggregation::kConstantWindow)
    constant_window(costs.view(), options.constant_radius, max_cost, result.view());
  else
    adaptive_weight(colours, options.adaptive_weight, costs.view(), result.view());
  return result;
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
    default:
      // Per thread the common arms of a plane, two counts, and column sums of costs and of ones.
      return element_count({std::min(threads, planes), std::ptrdiff_t{height} + 4, row,
                            sizeof(Cross) + 3 * sizeof(std::int32_t) + sizeof(double)});
  }
}

}  // namespace recon
