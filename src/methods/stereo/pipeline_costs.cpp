#include "methods/stereo/pipeline_costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/parallel.hpp"
#include "match/ad_census.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon {
namespace {

/// Pixels processed together.
constexpr int kGroup = 64;

TransformedImage transformed(ImageView<const std::uint8_t> grey, ImageView<const std::uint16_t> grey16,
                             const TransformOptions& options, bool mirrored) {
  return grey16.empty() ? TransformedImage(grey, options, mirrored)
                        : TransformedImage(grey16, grey, options, mirrored);
}

}  // namespace

PipelineCosts::PipelineCosts(const PairProblem& problem) : problem_(problem) {
  const CostOptions& cost = problem.options.cost;
  if (cost.kind != CostKind::kTransform) return;
  EXPECTS(cost.outside_cost >= 0 && cost.outside_cost <= 255);
  left_ = transformed(problem.images.left, problem.images.left16, cost.transform, false);
  right_ = transformed(problem.images.right, problem.images.right16, cost.transform, true);
}

void PipelineCosts::fill_group(int y, int first, int count, std::uint8_t* costs,
                               std::ptrdiff_t stride) const {
  const DisparityRange range = problem_.options.range;
  const CostOptions& cost = problem_.options.cost;
  transform_costs(*left_, *right_, cost.transform, range.min, range.count, cost.outside_cost, y, first, count,
                  costs, stride);
}

void PipelineCosts::fill(PairSide side, VolumeView<float> costs) const {
  const CostOptions& options = problem_.options.cost;
  const int min = problem_.options.range.min;
  switch (options.kind) {
    case CostKind::kColourDifference:
      return colour_difference_costs(problem_.colour, side, min, options.colour_cap, costs);
    case CostKind::kAdCensus:
      return ad_census_costs(problem_.colour, side, min, options.ad_census, costs);
    case CostKind::kTransform:
      return fill_from_transforms(side, costs);
    default:
      throw std::logic_error("the cost is one of sweeps or of fused stages");
  }
}

void PipelineCosts::fill_from_transforms(PairSide side, VolumeView<float> costs) const {
  const int outside = problem_.options.cost.outside_cost, min = problem_.options.range.min;
  const std::ptrdiff_t stride = cost_stride(costs.planes);
  const auto bytes = [&](int threads) { return element_count({threads, kGroup, stride}); };
  const auto fill_row = [&](int y) {
    AlignedBuffer<std::uint8_t> group(element_count({stride, kGroup}));
    if (side == PairSide::kRight)
      for (int d = 0; d < costs.planes; ++d)
        std::fill_n(costs.row(y, d), costs.width, static_cast<float>(outside));
    for (int first = 0; first < costs.width; first += kGroup) {
      const int count = std::min(kGroup, costs.width - first);
      fill_group(y, first, count, group.data(), stride);
      for (int d = 0; d < costs.planes; ++d) {
        // Column in this view of the group's first left pixel or of its match.
        const int column = side == PairSide::kLeft ? first : first - min - d;
        const int begin = std::clamp(-column, 0, count), end = std::clamp(costs.width - column, begin, count);
        float* out = costs.row(y, d);
        for (int i = begin; i < end; ++i) out[column + i] = group.data()[i * stride + d];
      }
    }
  };
  compute(bytes, [&] { parallel_for(costs.height, fill_row); });
}

CostSource PipelineCosts::integers() const {
  EXPECTS(left_.has_value());
  return [this](int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) {
    fill_group(y, first, count, costs, stride);
  };
}

CostSource whole_costs(VolumeView<const float> costs, const CostOptions& options) {
  const float steps = whole_cost_steps(options), max = static_cast<float>(whole_cost_limit(options));
  return quantized_costs(costs, [=](float cost) { return whole_cost(cost, steps, max); });
}

}  // namespace recon
