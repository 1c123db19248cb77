#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/hd.hpp"
#include "cuda/device/error.hpp"

namespace recon::cuda {

/// `size` / `each`, rounded up.
RECON_HD constexpr int divided_up(int size, int each) {
  return (size + each - 1) / each;
}

/// `size`, rounded up to a multiple of `step`.
RECON_HD constexpr int rounded_up(int size, int step) {
  return divided_up(size, step) * step;
}

/// Thread blocks for `size` items, `each` per thread block.
inline unsigned blocks_for(int size, int each) {
  return static_cast<unsigned>(divided_up(size, each));
}

/// An attribute of the current device. @throws DeviceError
inline int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  RECON_CUDA_TRY(cudaGetDevice(&device));
  RECON_CUDA_TRY(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

inline constexpr int kRefineThreads = 128;

/// Thread blocks for a list whose length is known only on the device.
inline constexpr unsigned kListBlocks = 1056;

/// One thread per pixel, by rows.
inline dim3 rows_grid(int width, int height) {
  return {blocks_for(width, kRefineThreads), static_cast<unsigned>(height)};
}

/// One thread per pixel, rows concatenated.
inline unsigned pixels_grid(std::ptrdiff_t pixels) {
  return static_cast<unsigned>((pixels + kRefineThreads - 1) / kRefineThreads);
}

}  // namespace recon::cuda
