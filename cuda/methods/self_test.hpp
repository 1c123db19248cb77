#pragma once

#include <cstddef>

namespace recon::cuda {

/// Runs a kernel on the current device and checks its result. @throws DeviceError
bool device_answers();

/// See count_wrong_reciprocals of cuda_sweep.hpp. @throws DeviceError
std::size_t count_wrong_reciprocals_here();

}  // namespace recon::cuda
