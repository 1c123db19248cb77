#include "cuda/aggregate/cross_based.hpp"

#include <algorithm>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/memory.hpp"

namespace recon::cuda {
namespace {

/// Scratch memory for a volume and both cross images, transposed (x and y exchanged). The volume is sized for
/// the larger of the original and the transposed layout.
struct TransposedMemory {
  std::size_t volume, crosses;  ///< bytes

  TransposedMemory(int width, int planes, int height)
      : volume(arena_bytes(std::max(device_volume_floats(width, planes, height),
                                    device_volume_floats(height, planes, width)) *
                           sizeof(float))),
        crosses(arena_bytes(element_count({padded_count<Cross>(height), width}) * sizeof(Cross))) {}

  std::size_t bytes() const { return volume + 2 * crosses; }
};

CrossImages transposed_arms(const CrossImages& arms, int width, int height, std::byte* memory,
                            std::size_t image_bytes, cudaStream_t stream) {
  CrossImages transposed = arms;
  transposed.pitch = padded_count<Cross>(height);
  const auto transpose = [&](const Cross* image, std::byte* to) {
    auto* crosses = reinterpret_cast<Cross*>(to);
    queue_transpose(image, arms.pitch, width, height, crosses, transposed.pitch, stream);
    return crosses;
  };
  transposed.reference = transpose(arms.reference, memory);
  if (arms.source != nullptr) transposed.source = transpose(arms.source, memory + image_bytes);
  return transposed;
}

/// Each iteration stores its means in the layout that the next one reads.
DeviceVolume queue_by_strips(const CrossImages& arms, const CrossBasedOptions& options, CostUnit unit,
                             const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream) {
  const int width = costs.width, height = costs.height, iterations = options.iterations;
  const TransposedMemory memory(width, costs.planes, height);
  auto* data = reinterpret_cast<float*>(scratch);
  const DeviceVolume transposed = device_volume(data, height, costs.planes, width);
  CrossImages arms_transposed;
  if (iterations > 1)
    arms_transposed = transposed_arms(arms, width, height, scratch + memory.volume, memory.crosses, stream);
  DeviceVolume now = costs;
  for (int i = 0; i < iterations; ++i) {
    const bool is_transposed = i % 2 == 1;
    const bool transpose = is_transposed || i + 1 < iterations;
    DeviceVolume next = is_transposed ? costs : transposed;
    if (!transpose) next = device_volume(data, width, costs.planes, height);
    queue_cross_strips({is_transposed ? arms_transposed : arms, is_transposed, transpose, now, next, unit},
                       stream);
    now = next;
  }
  return now;
}

DeviceVolume queue_by_sums(const CrossImages& arms, const CrossBasedOptions& options, CostUnit unit,
                           const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream) {
  DeviceVolume now = costs;
  DeviceVolume next =
      device_volume(reinterpret_cast<float*>(scratch), costs.width, costs.planes, costs.height);
  std::byte* sums =
      scratch + arena_bytes(device_volume_floats(costs.width, costs.planes, costs.height) * sizeof(float));
  for (int i = 0; i < options.iterations; ++i) {
    const CrossOrder order = i % 2 == 0 ? CrossOrder::kHorizontal : CrossOrder::kVertical;
    queue_cross_by_sums({arms, order, now, next, unit}, sums, stream);
    std::swap(now, next);
  }
  return now;
}

}  // namespace

std::size_t cross_based_bytes(int width, int planes, int height, const CrossBasedOptions& options,
                              int longest) {
  if (options.iterations == 0 || width == 0 || planes == 0 || height == 0) return 0;
  if (cross_fits_strips(longest)) return TransposedMemory(width, planes, height).bytes();
  return arena_bytes(device_volume_floats(width, planes, height) * sizeof(float)) +
         cross_by_sums_bytes(width, planes, height);
}

DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options, float max_cost,
                               const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream) {
  EXPECTS(options.iterations >= 0 && options.iterations <= 64);
  EXPECTS(costs.width <= kMaxAggregatedWidth);
  EXPECTS(costs.pitch == padded_count<float>(costs.width));
  EXPECTS(arms.longest >= 0 && arms.longest <= 255);
  const CostUnit unit = cost_unit(max_cost);
  if (costs.empty() || options.iterations == 0) return costs;
  const bool strips = cross_fits_strips(arms.longest);
  return strips ? queue_by_strips(arms, options, unit, costs, scratch, stream)
                : queue_by_sums(arms, options, unit, costs, scratch, stream);
}

}  // namespace recon::cuda
