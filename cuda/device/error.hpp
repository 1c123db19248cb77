#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/error.hpp"

namespace recon::cuda::detail {

/// @throws DeviceError with the call, its source location, and CUDA's name and text for the error; clears the
/// error if possible
[[noreturn]] void call_failed(cudaError_t error, const char* call, const char* file, int line);

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) call_failed(error, call, file, line);
}

}  // namespace recon::cuda::detail

/// Checks a call of the CUDA runtime; throws DeviceError if it fails. Destructors do not use it: they ignore
/// errors, because a failed kernel makes every later call fail too, and the wait for the result reports that.
#define RECON_CUDA_TRY(call) ::recon::cuda::detail::check((call), #call, __FILE__, __LINE__)
