#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// The length that no arm exceeds.
int longest_arm(const CrossOptions& options);

/// Bytes of an arena that a volume takes.
std::size_t device_volume_bytes(int width, int planes, int height);

/// Bytes of scratch memory that queue_aggregation takes on the current device.
std::size_t aggregation_bytes(int width, int planes, int height, const AggregationOptions& options);

/// Queues recon::aggregated.
/// @param colours  of kAdaptiveWeight, else not looked at
/// @param arms     of kCrossBased, else not looked at; `longest` is set here
/// @param greatest no finite cost is greater; of kConstantWindow and kCrossBased
/// @param costs    (y, d, x), at most kMaxAggregatedWidth wide; overwritten with anything, unless what is
///                 returned is this volume
/// @param scratch  aggregation_bytes of memory, aligned to 256 bytes
/// @return where the result is: `costs` itself, or a volume of its shape within `scratch`
/// @throws std::logic_error where an option is out of range; DeviceError
DeviceVolume queue_aggregation(const ColourImages& colours, CrossImages arms,
                               const AggregationOptions& options, float greatest, const DeviceVolume& costs,
                               std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
