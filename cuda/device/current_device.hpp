#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// Makes the device that was current at construction current again at the end, where it is not.
class RestoredDevice {
 public:
  RestoredDevice() { RECON_CUDA_TRY(cudaGetDevice(&before_)); }
  RestoredDevice(const RestoredDevice&) = delete;
  RestoredDevice& operator=(const RestoredDevice&) = delete;
  ~RestoredDevice() {
    int now = 0;
    // To set a device creates its context, so not without need.
    if (cudaGetDevice(&now) == cudaSuccess && now != before_) static_cast<void>(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
};

/// Sets the current device for the lifetime of the object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) { RECON_CUDA_TRY(cudaSetDevice(device)); }

 private:
  RestoredDevice restored_;
};

/// Sets the current device while an object is destroyed: the object has it as its first member, which is
/// destroyed last, and its destructor calls `begin`.
class DeviceOfDestructor {
 public:
  void begin(int device) noexcept {
    try {
      current_.emplace(device);
    } catch (const Error&) {
      // The device is lost, and its memory with it.
    }
  }

 private:
  std::optional<CurrentDevice> current_;
};

}  // namespace recon::cuda
