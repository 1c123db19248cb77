#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

namespace recon::cuda {

inline constexpr int kRefineThreads = 128;

/// Blocks that go through a list whose length only the device knows.
inline constexpr unsigned kListBlocks = 1056;

/// A thread a pixel, rows apart.
inline dim3 rows_grid(int width, int height) {
  return {static_cast<unsigned>((width + kRefineThreads - 1) / kRefineThreads),
          static_cast<unsigned>(height)};
}

/// A thread a pixel, rows joined.
inline unsigned pixels_grid(std::ptrdiff_t pixels) {
  return static_cast<unsigned>((pixels + kRefineThreads - 1) / kRefineThreads);
}

}  // namespace recon::cuda
