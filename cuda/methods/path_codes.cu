#include <cuda_fp16.h>

#include "cuda/device/error.hpp"
#include "cuda/methods/path_codes.hpp"
#include "cuda/optimize/plane_bytes.hpp"
#include "methods/path_depth.hpp"
#include "optimize/cost_code_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kColumns = 32;  ///< pixels of a thread block
constexpr int kPlanes = 64;   ///< planes of a thread block
constexpr int kThreads = 256;

/// A thread block turns 32 pixels x 64 planes of one row: whole lines are read along x and written along d.
__global__ void __launch_bounds__(kThreads)
    code_kernel(const std::uint16_t* volume, std::ptrdiff_t pitch, int row_begin, int plane_begin, int planes,
                BlockCodes codes) {
  __shared__ std::uint8_t turned[kColumns][kPlanes + 4];
  const int row = static_cast<int>(blockIdx.z);
  const int first_x = static_cast<int>(blockIdx.x) * kColumns,
            first_d = static_cast<int>(blockIdx.y) * kPlanes;
  const std::uint16_t* costs = volume + static_cast<std::ptrdiff_t>(row) * planes * pitch;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread / kColumns; i < kPlanes; i += kThreads / kColumns) {
    const int x = first_x + thread % kColumns, d = first_d + i;
    if (x < codes.width && d < planes)
      turned[thread % kColumns][i] =
          cost_code(__half2float(__ushort_as_half(costs[d * pitch + x])), codes.cap);
  }
  __syncthreads();
  std::uint8_t* out = codes.data + static_cast<std::ptrdiff_t>(row_begin + row) * codes.width * codes.stride;
  for (int i = thread / kPlanes; i < kColumns; i += kThreads / kPlanes) {
    const int x = first_x + i, d = first_d + thread % kPlanes;
    if (x < codes.width && d < planes)
      out[static_cast<std::ptrdiff_t>(x) * codes.stride + plane_byte(plane_begin + d)] =
          turned[i][thread % kPlanes];
  }
}

__global__ void depth_kernel(const PathWinner* winners, BlockCodes codes, PlaneSet planes, float* results,
                             std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= codes.width) return;
  const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(y) * codes.width + x;
  const PathWinner winner = winners[index];
  const WinnerDepth result =
      path_depth(winner, codes.data[index * codes.stride + plane_byte(winner.plane)], codes.cap, planes);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(codes.height) * pitch;
  float* pixel = results + static_cast<std::ptrdiff_t>(y) * pitch + x;
  pixel[0] = result.depth;
  pixel[size] = result.cost;
  pixel[2 * size] = result.confidence;
}

unsigned divided_up(int a, int b) {
  return static_cast<unsigned>((a + b - 1) / b);
}

}  // namespace

void launch_cost_codes(const std::uint16_t* volume, std::ptrdiff_t pitch, int row_begin, int rows,
                       int plane_begin, int planes, const BlockCodes& codes, cudaStream_t stream) {
  const dim3 grid(divided_up(codes.width, kColumns), divided_up(planes, kPlanes),
                  static_cast<unsigned>(rows));
  code_kernel<<<grid, kThreads, 0, stream>>>(volume, pitch, row_begin, plane_begin, planes, codes);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_path_depth(const PathWinner* winners, const BlockCodes& codes, const PlaneSet& planes,
                       float* results, std::ptrdiff_t pitch, cudaStream_t stream) {
  const dim3 grid(divided_up(codes.width, 128), static_cast<unsigned>(codes.height));
  depth_kernel<<<grid, 128, 0, stream>>>(winners, codes, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
