#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Bytes of scratch memory for queue_constant_window; they do not decrease as the volume grows.
std::size_t constant_window_bytes(int width, int planes, int height, int radius);

/// Queues recon::constant_window, bit-identical: running sums down the columns, prefix sums along the rows.
/// The time hardly depends on the radius as long as the rows of a window stay in the device's cache; it is
/// longer for radii above 63, whose column sums are stored.
/// @param costs       (y, d, x), 0 .. `max_cost`, or +infinity; at most kMaxAggregatedWidth wide
/// @param max_cost    max finite cost
/// @param aggregated  of the same shape; does not overlap `costs`
/// @param scratch     constant_window_bytes of memory, aligned to 256 bytes
/// @throws std::logic_error if shapes differ, the radius or the max cost is out of range, or with radii above
/// 63 for 65536 rows and more; DeviceError
void queue_constant_window(const DeviceVolume& costs, int radius, float max_cost,
                           const DeviceVolume& aggregated, std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
