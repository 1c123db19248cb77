#pragma once

#include <string>

namespace recon::cuda {

/// Why a device cannot be used; empty if it can.
std::string why_unusable(int device);

/// For people. @throws DeviceError
std::string device_name(int device);

}  // namespace recon::cuda
