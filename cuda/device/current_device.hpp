#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// Sets the current device for the lifetime of the object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    RECON_CUDA_TRY(cudaGetDevice(&before_));
    RECON_CUDA_TRY(cudaSetDevice(device));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

}  // namespace recon::cuda
