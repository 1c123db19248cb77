#include "cuda/aggregate/aggregation.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/device/memory.hpp"

namespace recon::cuda {
namespace {

using Options = AggregationOptions;

/// An aggregation on a device, see recon::Aggregator. Means are a volume at the begin of the scratch memory,
/// or the costs themselves.
struct DeviceAggregator {
  Aggregation kind;
  /// Of the scratch memory.
  std::size_t (*bytes)(int width, int planes, int height, const Options& options);
  /// See queue_aggregation. @param after_means  scratch memory after a volume
  DeviceVolume (*queue)(const ColourImages& colours, CrossImages arms, const Options& options, float max_cost,
                        const DeviceVolume& costs, std::byte* scratch, std::byte* after_means,
                        cudaStream_t stream);
};

DeviceVolume means_in(std::byte* scratch, const DeviceVolume& costs) {
  return device_volume(reinterpret_cast<float*>(scratch), costs.width, costs.planes, costs.height);
}

constexpr DeviceAggregator kDeviceAggregators[] = {
    {Aggregation::kNone, [](int, int, int, const Options&) { return std::size_t{0}; },
     [](const ColourImages&, CrossImages, const Options&, float, const DeviceVolume& costs, std::byte*,
        std::byte*, cudaStream_t) { return costs; }},
    {Aggregation::kConstantWindow,
     [](int width, int planes, int height, const Options& options) {
       return device_volume_bytes(width, planes, height) +
              constant_window_bytes(width, planes, height, options.constant_radius);
     },
     [](const ColourImages&, CrossImages, const Options& options, float max_cost, const DeviceVolume& costs,
        std::byte* scratch, std::byte* after_means, cudaStream_t stream) {
       const DeviceVolume means = means_in(scratch, costs);
       queue_constant_window(costs, options.constant_radius, max_cost, means, after_means, stream);
       return means;
     }},
    {Aggregation::kAdaptiveWeight,
     [](int width, int planes, int height, const Options&) {
       return device_volume_bytes(width, planes, height) + adaptive_weight_bytes(width, planes, height);
     },
     [](const ColourImages& colours, CrossImages, const Options& options, float, const DeviceVolume& costs,
        std::byte* scratch, std::byte* after_means, cudaStream_t stream) {
       const DeviceVolume means = means_in(scratch, costs);
       queue_adaptive_weight(colours, options.adaptive_weight, costs, means, after_means, stream);
       return means;
     }},
    {Aggregation::kCrossBased,
     [](int width, int planes, int height, const Options& options) {
       return cross_based_bytes(width, planes, height, options.cross_based, longest_arm(options.cross));
     },
     [](const ColourImages&, CrossImages arms, const Options& options, float max_cost,
        const DeviceVolume& costs, std::byte* scratch, std::byte*, cudaStream_t stream) {
       arms.longest = longest_arm(options.cross);
       return queue_cross_based(arms, options.cross_based, max_cost, costs, scratch, stream);
     }}};

/// @throws UsageError for one that only the CPU has
const DeviceAggregator& device_aggregator(const Options& options) {
  for (const DeviceAggregator& it : kDeviceAggregators)
    if (it.kind == options.kind) return it;
  throw UsageError("a GPU does not have this --aggregation; --device cpu does");
}

}  // namespace

std::size_t device_volume_bytes(int width, int planes, int height) {
  return arena_bytes(device_volume_floats(width, planes, height) * sizeof(float));
}

int longest_arm(const CrossOptions& options) {
  return std::min(options.reach - 1, 255);
}

std::size_t aggregation_bytes(int width, int planes, int height, const Options& options) {
  return device_aggregator(options).bytes(width, planes, height, options);
}

DeviceVolume queue_aggregation(const ColourImages& colours, CrossImages arms, const Options& options,
                               float max_cost, const DeviceVolume& costs, std::byte* scratch,
                               cudaStream_t stream) {
  std::byte* after_means = scratch + device_volume_bytes(costs.width, costs.planes, costs.height);
  return device_aggregator(options).queue(colours, arms, options, max_cost, costs, scratch, after_means,
                                          stream);
}

}  // namespace recon::cuda
