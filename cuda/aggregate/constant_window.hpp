#pragma once

#include <cuda_runtime_api.h>

#include "aggregate/constant_window.hpp"
#include "cuda/aggregate/device_volume.hpp"

namespace recon::cuda {

/// Queues recon::constant_window: running sums in double down the columns, prefix sums along them; the time
/// hardly depends on the radius as long as the rows of a window stay in the device's cache, and is longer for
/// radii above 60. Results are equal to the CPU's wherever sums are exact (whole numbers below 2^24, and in
/// practice costs that are no farther than 2^20 apart), else within a rounding. The same bits on every run.
/// @param costs       (y, d, x), of magnitudes below 1e30, or +infinity; at most kMaxAggregatedWidth wide
/// @param aggregated  of the same shape, apart from `costs`
/// @throws std::logic_error where shapes differ or the radius is out of range; DeviceError
void queue_constant_window(const DeviceVolume& costs, int radius, const DeviceVolume& aggregated,
                           cudaStream_t stream);

}  // namespace recon::cuda
