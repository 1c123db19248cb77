#include "cuda/aggregate/aggregation.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "cuda/aggregate/constant_window.hpp"

namespace recon::cuda {
namespace {

/// An aggregation on a device, see recon::Aggregator and take_aggregation.
struct DeviceAggregator {
  Aggregation kind;
  QueueAggregation (*take)(const AggregatedCosts& it, Arena& arena);
};

DeviceVolume take_means(const AggregatedCosts& it, Arena& arena) {
  return device_volume(arena.take<float>(device_volume_floats(it.width, it.planes, it.height)), it.width,
                       it.planes, it.height);
}

constexpr DeviceAggregator kDeviceAggregators[] = {
    {Aggregation::kNone,
     [](const AggregatedCosts&, Arena&) -> QueueAggregation {
       return [](const DeviceVolume& costs, cudaStream_t) { return costs; };
     }},
    {Aggregation::kConstantWindow,
     [](const AggregatedCosts& it, Arena& arena) -> QueueAggregation {
       const int radius = it.options.constant_radius;
       const DeviceVolume means = take_means(it, arena);
       const CrossSums sums = take_window_sums(it.width, it.planes, it.height, radius, arena);
       return [=, max_cost = it.max_cost](const DeviceVolume& costs, cudaStream_t stream) {
         queue_constant_window(costs, radius, max_cost, means, sums, stream);
         return means;
       };
     }},
    {Aggregation::kAdaptiveWeight,
     [](const AggregatedCosts& it, Arena& arena) -> QueueAggregation {
       const DeviceVolume means = take_means(it, arena);
       const WeightMemory memory = WeightMemory::take(it.width, it.planes, it.height, arena);
       return [=](const DeviceVolume& costs, cudaStream_t stream) {
         queue_adaptive_weight(it.colours, it.options.adaptive_weight, costs, means, memory, stream);
         return means;
       };
     }},
    {Aggregation::kCrossBased, [](const AggregatedCosts& it, Arena& arena) -> QueueAggregation {
       CrossImages arms = it.arms;
       arms.longest = std::min(it.options.cross.reach - 1, 255);
       const CrossBasedOptions& options = it.options.cross_based;
       const CrossMemory memory =
           CrossMemory::take(it.width, it.planes, it.height, options, arms.longest, arena);
       return [=, max_cost = it.max_cost](const DeviceVolume& costs, cudaStream_t stream) {
         return queue_cross_based(arms, options, max_cost, costs, memory, stream);
       };
     }}};

}  // namespace

QueueAggregation take_aggregation(const AggregatedCosts& costs, Arena& arena) {
  for (const DeviceAggregator& aggregator : kDeviceAggregators)
    if (aggregator.kind == costs.options.kind) return aggregator.take(costs, arena);
  throw UsageError("a GPU does not have this --aggregation; --device cpu does");
}

}  // namespace recon::cuda
