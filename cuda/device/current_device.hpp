#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// The current device of the calling thread. @throws DeviceError
inline int current_device() {
  int device = 0;
  RECON_CUDA_TRY(cudaGetDevice(&device));
  return device;
}

/// Sets the current device for the lifetime of the object, then that of before is current again. A thread
/// that has no context has none afterwards: to set the device of before, which is 0 in a thread that set
/// none, would create a context on it, with hundreds of megabytes. So the context of the device is pushed and
/// popped.
class CurrentDevice {
 public:
  /// @throws DeviceError
  explicit CurrentDevice(int device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  bool pushed_;
  int before_ = 0;  ///< where the context could not be pushed
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
