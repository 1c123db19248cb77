#include "cuda/aggregate/cross_based.hpp"

#include <algorithm>

#include "cuda/aggregate/cross_passes.hpp"

namespace recon::cuda {
namespace {

/// The crosses with x and y exchanged.
CrossImages queue_transposed(const CrossImages& arms, int width, int height, const CrossMemory& memory,
                             cudaStream_t stream) {
  CrossImages transposed = arms;
  transposed.pitch = padded_count<Cross>(height);
  const auto transpose = [&](const Cross* image, Cross* to) {
    queue_transpose(image, arms.pitch, width, height, to, transposed.pitch, stream);
    return to;
  };
  transposed.reference = transpose(arms.reference, memory.crosses[0]);
  if (arms.source != nullptr) transposed.source = transpose(arms.source, memory.crosses[1]);
  return transposed;
}

/// Each iteration stores its means in the layout that the next one reads.
DeviceVolume queue_by_strips(const CrossImages& arms, const CrossBasedOptions& options, CostUnit unit,
                             const DeviceVolume& costs, const CrossMemory& memory, cudaStream_t stream) {
  const int width = costs.width, height = costs.height, iterations = options.iterations;
  const DeviceVolume transposed = device_volume(memory.volume, height, costs.planes, width);
  CrossImages arms_transposed;
  if (iterations > 1) arms_transposed = queue_transposed(arms, width, height, memory, stream);
  DeviceVolume now = costs;
  for (int i = 0; i < iterations; ++i) {
    const bool is_transposed = i % 2 == 1;
    const bool transpose = is_transposed || i + 1 < iterations;
    DeviceVolume next = is_transposed ? costs : transposed;
    if (!transpose) next = device_volume(memory.volume, width, costs.planes, height);
    queue_cross_strips({is_transposed ? arms_transposed : arms, is_transposed, transpose, now, next, unit},
                       stream);
    now = next;
  }
  return now;
}

DeviceVolume queue_by_sums(const CrossImages& arms, const CrossBasedOptions& options, CostUnit unit,
                           const DeviceVolume& costs, const CrossMemory& memory, cudaStream_t stream) {
  DeviceVolume now = costs;
  DeviceVolume next = device_volume(memory.volume, costs.width, costs.planes, costs.height);
  for (int i = 0; i < options.iterations; ++i) {
    const CrossOrder order = i % 2 == 0 ? CrossOrder::kHorizontal : CrossOrder::kVertical;
    queue_cross_by_sums({arms, order, now, next, unit}, memory.sums, stream);
    std::swap(now, next);
  }
  return now;
}

}  // namespace

CrossMemory CrossMemory::take(int width, int planes, int height, const CrossBasedOptions& options,
                              int longest, Arena& arena) {
  CrossMemory memory;
  if (options.iterations == 0 || width == 0 || planes == 0 || height == 0) return memory;
  const std::size_t floats = device_volume_floats(width, planes, height);
  if (!cross_fits_strips(longest)) {
    memory.volume = arena.take<float>(floats);
    memory.sums = CrossSums::take(width, planes, height, arena);
    return memory;
  }
  memory.volume = arena.take<float>(std::max(floats, device_volume_floats(height, planes, width)));
  for (Cross*& crosses : memory.crosses)
    crosses = arena.take<Cross>(element_count({padded_count<Cross>(height), width}));
  return memory;
}

DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options, float max_cost,
                               const DeviceVolume& costs, const CrossMemory& memory, cudaStream_t stream) {
  EXPECTS(options.iterations >= 0 && options.iterations <= 64);
  EXPECTS(costs.width <= kMaxAggregatedWidth);
  EXPECTS(costs.pitch == padded_count<float>(costs.width));
  EXPECTS(arms.longest >= 0 && arms.longest <= 255);
  const CostUnit unit = cost_unit(max_cost);
  if (costs.empty() || options.iterations == 0) return costs;
  const auto queue = memory.sums.planes == 0 ? queue_by_strips : queue_by_sums;
  return queue(arms, options, unit, costs, memory, stream);
}

}  // namespace recon::cuda
