#pragma once

#include <cuda_fp16.h>

#include "cuda/device/grid.hpp"
#include "cuda/device/volume.hpp"
#include "cuda/optimize/semi_global/semi_global.hpp"

namespace recon::cuda {

inline constexpr int kQuantizeColumns = 32;  ///< pixels per thread block
inline constexpr int kQuantizePlanes = 64;   ///< planes per thread block
inline constexpr int kQuantizeThreads = 256;

/// A thread block quantizes and transposes 32 pixels x 64 planes of one row: full lines are read along x and
/// written along d.
template <class Cost, class Quantize>
__global__ void __launch_bounds__(kQuantizeThreads)
    quantize_kernel(CostPiece<Cost> piece, QuantizedCosts quantized, Quantize quantize) {
  __shared__ std::uint8_t transposed[kQuantizeColumns][kQuantizePlanes + 4];
  const int row = static_cast<int>(blockIdx.z);
  const int first_x = static_cast<int>(blockIdx.x) * kQuantizeColumns,
            first_d = static_cast<int>(blockIdx.y) * kQuantizePlanes;
  const Cost* costs = piece.data + static_cast<std::ptrdiff_t>(row) * piece.planes * piece.pitch;
  const int thread = static_cast<int>(threadIdx.x), column = thread % kQuantizeColumns;
  for (int i = thread / kQuantizeColumns; i < kQuantizePlanes; i += kQuantizeThreads / kQuantizeColumns) {
    const int x = first_x + column, d = first_d + i;
    if (x < quantized.width && d < piece.planes) transposed[column][i] = quantize(costs[d * piece.pitch + x]);
  }
  __syncthreads();
  std::uint8_t* out =
      quantized.data + static_cast<std::ptrdiff_t>(piece.row + row) * quantized.width * quantized.stride;
  for (int i = thread / kQuantizePlanes; i < kQuantizeColumns; i += kQuantizeThreads / kQuantizePlanes) {
    const int x = first_x + i, d = first_d + thread % kQuantizePlanes;
    if (x < quantized.width && d < piece.planes)
      out[static_cast<std::ptrdiff_t>(x) * quantized.stride + plane_byte(piece.plane + d)] =
          transposed[i][thread % kQuantizePlanes];
  }
}

/// Quantizes the costs of a piece; `quantize(cost)` runs on the device. @throws DeviceError
template <class Cost, class Quantize>
void launch_quantize(const CostPiece<Cost>& piece, const QuantizedCosts& quantized, const Quantize& quantize,
                     cudaStream_t stream) {
  const dim3 grid(blocks_for(quantized.width, kQuantizeColumns), blocks_for(piece.planes, kQuantizePlanes),
                  static_cast<unsigned>(piece.rows));
  quantize_kernel<<<grid, kQuantizeThreads, 0, stream>>>(piece, quantized, quantize);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
