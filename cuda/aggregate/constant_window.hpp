#pragma once

#include <cuda_runtime_api.h>

#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// Takes the memory of queue_constant_window for costs of a shape.
CrossSums take_window_sums(int width, int planes, int height, int radius, Arena& arena);

/// Queues recon::constant_window, bit-identical: running sums down the columns, prefix sums along the rows.
/// The time hardly depends on the radius as long as the rows of a window stay in the device's cache; it is
/// longer for radii above 63, whose column sums are stored.
/// @param costs       (y, d, x), 0 .. `max_cost`, or +infinity; at most kMaxAggregatedWidth wide
/// @param max_cost    max finite cost
/// @param aggregated  of the same shape; does not overlap `costs`
/// @param sums        taken for the shape and the radius
/// @throws std::logic_error if shapes differ, the radius or the max cost is out of range, or with radii above
/// 63 for 65536 rows and more; DeviceError
void queue_constant_window(const DeviceVolume& costs, int radius, float max_cost,
                           const DeviceVolume& aggregated, const CrossSums& sums, cudaStream_t stream);

}  // namespace recon::cuda
