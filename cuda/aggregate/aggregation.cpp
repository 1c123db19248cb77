#include "cuda/aggregate/aggregation.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/device/memory.hpp"

namespace recon::cuda {
std::size_t device_volume_bytes(int width, int planes, int height) {
  return arena_bytes(device_volume_floats(width, planes, height) * sizeof(float));
}

/// Of a kind that only the CPU has.
[[noreturn]] static void refuse_aggregation() {
  throw UsageError("a GPU does not have this --aggregation; --device cpu does");
}

int longest_arm(const CrossOptions& options) {
  return std::min(options.reach - 1, 255);
}

std::size_t aggregation_bytes(int width, int planes, int height, const AggregationOptions& options) {
  switch (options.kind) {
    case Aggregation::kNone:
      return 0;
    case Aggregation::kConstantWindow:
      return device_volume_bytes(width, planes, height) +
             constant_window_bytes(width, planes, height, options.constant_radius);
    case Aggregation::kAdaptiveWeight:
      return device_volume_bytes(width, planes, height) + adaptive_weight_bytes(width, planes, height);
    case Aggregation::kCrossBased:
      return cross_based_bytes(width, planes, height, options.cross_based, longest_arm(options.cross));
    default:
      refuse_aggregation();
  }
}

DeviceVolume queue_aggregation(const ColourImages& colours, CrossImages arms,
                               const AggregationOptions& options, float max_cost, const DeviceVolume& costs,
                               std::byte* scratch, cudaStream_t stream) {
  const int width = costs.width, planes = costs.planes, height = costs.height;
  const DeviceVolume means = device_volume(reinterpret_cast<float*>(scratch), width, planes, height);
  std::byte* after_means = scratch + device_volume_bytes(width, planes, height);
  switch (options.kind) {
    case Aggregation::kNone:
      return costs;
    case Aggregation::kConstantWindow:
      queue_constant_window(costs, options.constant_radius, max_cost, means, after_means, stream);
      return means;
    case Aggregation::kAdaptiveWeight:
      queue_adaptive_weight(colours, options.adaptive_weight, costs, means, after_means, stream);
      return means;
    case Aggregation::kCrossBased:
      arms.longest = longest_arm(options.cross);
      return queue_cross_based(arms, options.cross_based, max_cost, costs, scratch, stream);
    default:
      refuse_aggregation();
  }
}

}  // namespace recon::cuda
