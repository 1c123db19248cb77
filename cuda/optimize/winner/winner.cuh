#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "cuda/device/grid.hpp"
#include "cuda/device/volume.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon::cuda {

/// The states of the pixels of an image between two ranges of planes.
struct WinnerScans {
  WinnerScan* data = nullptr;  ///< null if there is one range
  std::ptrdiff_t pitch = 0;    ///< elements from one row to the next
};

/// A thread scans the pixels whose costs of a plane fill 32 bits: one, or two neighbours.
template <class Cost>
inline constexpr int kScannedPixels = 4 / sizeof(Cost);
/// Halves come in ranges of planes; floats have all planes.
template <class Cost>
inline constexpr bool kInRanges = std::is_same_v<Cost, std::uint16_t>;
template <class Cost>
inline constexpr int kScanThreads = kInRanges<Cost> ? 128 : 64;
template <class Cost>
inline constexpr int kScanUnroll = kInRanges<Cost> ? 8 : 16;

__device__ inline void read_costs(const float* costs, float (&read)[1]) {
  read[0] = __ldg(costs);
}
__device__ inline void read_costs(const std::uint16_t* costs, float (&read)[2]) {
  const float2 two = __half22float2(__ldg(reinterpret_cast<const __half2*>(costs)));
  read[0] = two.x, read[1] = two.y;
}

/// Rows are padded, so the last pixel of a thread may lie outside.
template <class Cost, class Store>
__global__ void __launch_bounds__(kScanThreads<Cost>)
    winner_kernel(CostPiece<Cost> piece, int width, int planes, WinnerScans scans, Store store) {
  constexpr int kPixels = kScannedPixels<Cost>;
  const int x = kPixels * static_cast<int>(blockIdx.x * kScanThreads<Cost> + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  WinnerScan scan[kPixels];
  for (int i = 0; i < kPixels; ++i) {
    scan[i].clear();
    if constexpr (kInRanges<Cost>)
      if (piece.plane > 0 && x + i < width) scan[i] = scans.data[row * scans.pitch + x + i];
  }
  const Cost* costs = piece.data + static_cast<std::ptrdiff_t>(row) * piece.planes * piece.pitch + x;
#pragma unroll kScanUnroll < Cost>
  for (int d = 0; d < piece.planes; ++d) {
    float cost[kPixels];
    read_costs(costs + d * piece.pitch, cost);
    for (int i = 0; i < kPixels; ++i) scan[i].push(cost[i]);
  }
  const bool ends = !kInRanges<Cost> || piece.plane + piece.planes == planes;
  for (int i = 0; i < kPixels && x + i < width; ++i) {
    if (ends)
      store(x + i, row, scan[i].winner);
    else if constexpr (kInRanges<Cost>)
      scans.data[row * scans.pitch + x + i] = scan[i];
  }
}

/// Queues the scan of a piece of costs for the winner of every pixel, see WinnerScan.
/// @param width   pixels
/// @param planes  of all ranges
/// @param scans   for a piece that does not have all planes; the pieces of the same rows follow one another
/// @param store   store(x, row, winner), on the device, after the last range of planes; `row` counts in the
///                piece
/// @throws DeviceError
template <class Cost, class Store>
void launch_winners(const CostPiece<Cost>& piece, int width, int planes, const WinnerScans& scans,
                    const Store& store, cudaStream_t stream) {
  const dim3 grid(blocks_for(divided_up(width, kScannedPixels<Cost>), kScanThreads<Cost>),
                  static_cast<unsigned>(piece.rows));
  winner_kernel<<<grid, kScanThreads<Cost>, 0, stream>>>(piece, width, planes, scans, store);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
