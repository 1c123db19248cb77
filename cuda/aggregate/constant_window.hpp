#pragma once

#include <cuda_runtime_api.h>

#include "aggregate/aggregation.hpp"
#include "aggregate/cost_unit_step.hpp"
#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Queues recon::constant_window, bit-identical: running sums down the columns, prefix sums along the rows.
/// The time hardly depends on the radius as long as the rows of a window stay in the device's cache; it is
/// longer for radii above 63.
/// @param costs       (y, d, x), 0 .. `max_cost`, or +infinity; at most kMaxAggregatedWidth wide
/// @param max_cost    max finite cost
/// @param aggregated  of the same shape; does not overlap `costs`
/// @throws std::logic_error if shapes differ, or the radius or the max cost is out of range; DeviceError
void queue_constant_window(const DeviceVolume& costs, int radius, float max_cost,
                           const DeviceVolume& aggregated, cudaStream_t stream);

/// As queue_constant_window, for windows of any size; `radius` at most the longer side of the image.
void queue_wide_window(const DeviceVolume& costs, int radius, CostUnit unit, const DeviceVolume& aggregated,
                       cudaStream_t stream);

}  // namespace recon::cuda
