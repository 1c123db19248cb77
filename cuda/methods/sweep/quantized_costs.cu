#include <cuda_fp16.h>

#include "cuda/device/error.hpp"
#include "cuda/methods/sweep/quantized_costs.hpp"
#include "cuda/optimize/semi_global/plane_bytes.hpp"
#include "methods/sweep/semi_global_depth.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kColumns = 32;  ///< pixels per thread block
constexpr int kPlanes = 64;   ///< planes per thread block
constexpr int kThreads = 256;

__device__ __forceinline__ float cost_of(std::uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
__device__ __forceinline__ float cost_of(float cost) {
  return cost;
}

/// A thread block transposes 32 pixels x 64 planes of one row: full lines are read along x and written along
/// d.
template <class Cost>
__global__ void __launch_bounds__(kThreads)
    code_kernel(const Cost* volume, std::ptrdiff_t pitch, BlockPiece piece, BlockCodes codes) {
  __shared__ std::uint8_t turned[kColumns][kPlanes + 4];
  const int row = static_cast<int>(blockIdx.z);
  const int first_x = static_cast<int>(blockIdx.x) * kColumns,
            first_d = static_cast<int>(blockIdx.y) * kPlanes;
  const Cost* costs = volume + static_cast<std::ptrdiff_t>(row) * piece.planes * pitch;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread / kColumns; i < kPlanes; i += kThreads / kColumns) {
    const int x = first_x + thread % kColumns, d = first_d + i;
    if (x < codes.width && d < piece.planes)
      turned[thread % kColumns][i] = quantized_cost(cost_of(costs[d * pitch + x]), codes.cap);
  }
  __syncthreads();
  std::uint8_t* out = codes.data + static_cast<std::ptrdiff_t>(piece.row + row) * codes.width * codes.stride;
  for (int i = thread / kPlanes; i < kColumns; i += kThreads / kPlanes) {
    const int x = first_x + i, d = first_d + thread % kPlanes;
    if (x < codes.width && d < piece.planes)
      out[static_cast<std::ptrdiff_t>(x) * codes.stride + plane_byte(piece.plane + d)] =
          turned[i][thread % kPlanes];
  }
}

__global__ void depth_kernel(const PathWinner* winners, BlockCodes codes, PlaneSet planes, float* results,
                             std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= codes.width) return;
  const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(y) * codes.width + x;
  const PathWinner winner = winners[index];
  const WinnerDepth result = semi_global_depth(
      winner, codes.data[index * codes.stride + plane_byte(winner.plane)], codes.cap, planes);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(codes.height) * pitch;
  float* pixel = results + static_cast<std::ptrdiff_t>(y) * pitch + x;
  pixel[0] = result.depth;
  pixel[size] = result.cost;
  pixel[2 * size] = result.confidence;
}

unsigned divided_up(int a, int b) {
  return static_cast<unsigned>((a + b - 1) / b);
}

template <class Cost>
void launch_codes(const Cost* volume, std::ptrdiff_t pitch, const BlockPiece& piece, const BlockCodes& codes,
                  cudaStream_t stream) {
  const dim3 grid(divided_up(codes.width, kColumns), divided_up(piece.planes, kPlanes),
                  static_cast<unsigned>(piece.rows));
  code_kernel<<<grid, kThreads, 0, stream>>>(volume, pitch, piece, codes);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_quantized_costs(const std::uint16_t* volume, std::ptrdiff_t pitch, const BlockPiece& piece,
                            const BlockCodes& codes, cudaStream_t stream) {
  launch_codes(volume, pitch, piece, codes, stream);
}

void launch_quantized_costs(const DeviceVolume& costs, const BlockCodes& codes, cudaStream_t stream) {
  launch_codes(costs.data, costs.pitch, {0, costs.height, 0, costs.planes}, codes, stream);
}

void launch_path_depth(const PathWinner* winners, const BlockCodes& codes, const PlaneSet& planes,
                       float* results, std::ptrdiff_t pitch, cudaStream_t stream) {
  const dim3 grid(divided_up(codes.width, 128), static_cast<unsigned>(codes.height));
  depth_kernel<<<grid, 128, 0, stream>>>(winners, codes, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
