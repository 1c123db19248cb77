#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "aggregate/aggregation.hpp"
#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// The costs of a view that are aggregated, and what guides it.
struct AggregatedCosts {
  ColourImages colours;  ///< for kAdaptiveWeight, else ignored
  CrossImages arms;      ///< for kCrossBased, else ignored; `longest` follows from the options
  AggregationOptions options;
  float max_cost;             ///< max finite cost; for kConstantWindow and kCrossBased
  int width, planes, height;  ///< of the volume, at most kMaxAggregatedWidth wide
};

/// Queues recon::aggregated of a volume, with the addresses of its memory. The contents of the costs are
/// undefined afterwards, unless they are returned.
/// @return the result: `costs` itself, or a volume of its shape
/// @throws std::logic_error if an option is out of range; DeviceError
using QueueAggregation = std::function<DeviceVolume(const DeviceVolume& costs, cudaStream_t stream)>;

/// Takes the memory of an aggregation on the current device from an arena.
/// @throws UsageError for one that only the CPU has
QueueAggregation take_aggregation(const AggregatedCosts& costs, Arena& arena);

}  // namespace recon::cuda
