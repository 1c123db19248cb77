#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

namespace recon::cuda {

inline constexpr int kRefineThreads = 128;

/// Thread blocks for a list whose length is known only on the device.
inline constexpr unsigned kListBlocks = 1056;

/// One thread per pixel, by rows.
inline dim3 rows_grid(int width, int height) {
  return {static_cast<unsigned>((width + kRefineThreads - 1) / kRefineThreads),
          static_cast<unsigned>(height)};
}

/// One thread per pixel, rows concatenated.
inline unsigned pixels_grid(std::ptrdiff_t pixels) {
  return static_cast<unsigned>((pixels + kRefineThreads - 1) / kRefineThreads);
}

}  // namespace recon::cuda
