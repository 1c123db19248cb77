#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// The max length of an arm.
int longest_arm(const CrossOptions& options);

/// Bytes of a volume in an arena.
std::size_t device_volume_bytes(int width, int planes, int height);

/// Bytes of scratch memory for queue_aggregation on the current device.
std::size_t aggregation_bytes(int width, int planes, int height, const AggregationOptions& options);

/// Queues recon::aggregated.
/// @param colours  for kAdaptiveWeight, else ignored
/// @param arms     for kCrossBased, else ignored; `longest` is set here
/// @param max_cost max finite cost; for kConstantWindow and kCrossBased
/// @param costs    (y, d, x), at most kMaxAggregatedWidth wide; contents undefined afterwards, unless this
///                 volume is returned
/// @param scratch  aggregation_bytes of memory, aligned to 256 bytes
/// @return the result: `costs` itself, or a volume of its shape in `scratch`
/// @throws std::logic_error if an option is out of range; DeviceError
DeviceVolume queue_aggregation(const ColourImages& colours, CrossImages arms,
                               const AggregationOptions& options, float max_cost, const DeviceVolume& costs,
                               std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
