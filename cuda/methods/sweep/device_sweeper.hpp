#pragma once

#include <cstddef>
#include <memory>

#include "methods/sweep/device_sweeper.hpp"

namespace recon::cuda {

/// A sweeper on the current device, with its memory.
/// @param memory_limit  bytes of it
/// @throws std::logic_error if an option is out of range; UsageError for a method of which the host computes
/// a part; OutOfMemory, DeviceError
std::unique_ptr<DeviceSweeper> make_view_sweeper(const DeviceSweeping& sweeping, std::size_t memory_limit);

}  // namespace recon::cuda
