#include <cuda_fp16.h>

#include "cuda/device/grid.hpp"
#include "cuda/methods/sweep/block_costs.hpp"
#include "cuda/optimize/semi_global/quantize.cuh"
#include "cuda/optimize/winner/winner.cuh"
#include "methods/sweep/depth_step.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {

namespace {

constexpr int kThreads = 128;

/// Stores a result in three consecutive images of `size` pixels. @param pixel  of the first image
__device__ void store_result(const WinnerDepth& result, float* pixel, std::ptrdiff_t size) {
  pixel[0] = result.depth;
  pixel[size] = result.cost;
  pixel[2 * size] = result.confidence;
}

/// Stores winners as depths in three images of `size` pixels.
struct DepthStore {
  PlaneSet planes;
  float* results;
  std::ptrdiff_t pitch, size;

  __device__ void operator()(int x, int row, const Winner& winner) const {
    store_result(winner_depth(winner, planes), results + row * pitch + x, size);
  }
};

/// A thread converts two neighbouring costs; rows of both are padded, so the second may lie outside.
__global__ void __launch_bounds__(kThreads) cost_kernel(CostPiece<std::uint16_t> piece, DeviceVolume costs) {
  const int x = 2 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const int d = static_cast<int>(blockIdx.y), row = static_cast<int>(blockIdx.z);
  if (x >= costs.width) return;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(row) * piece.planes + d;
  const __half2 two = *reinterpret_cast<const __half2*>(piece.data + line * piece.pitch + x);
  *reinterpret_cast<float2*>(costs.row(piece.row + row, piece.plane + d) + x) = __half22float2(two);
}

__global__ void __launch_bounds__(kThreads)
    colour_kernel(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue,
                  std::ptrdiff_t pitch, int width, Rgb8* colours) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const std::ptrdiff_t at = y * pitch + x;
  colours[static_cast<std::ptrdiff_t>(y) * width + x] = {red[at], green[at], blue[at]};
}

__global__ void __launch_bounds__(kThreads)
    edge_kernel(DeviceVolume costs, PlaneSet planes, const float* depths, float* results,
                std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  const float* depth = depths + static_cast<std::ptrdiff_t>(y) * pitch + x;
  const float unknown = __builtin_nanf("");
  const float beside[] = {x > 0 ? depth[-1] : unknown, x + 1 < costs.width ? depth[1] : unknown,
                          y > 0 ? depth[-pitch] : unknown, y + 1 < costs.height ? depth[pitch] : unknown};
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(costs.height) * pitch;
  float* pixel = results + (depth - depths);
  const WinnerDepth own{*depth, pixel[size], pixel[2 * size]};
  const float* of_pixel = costs.row(y, 0) + x;
  const WinnerDepth best = adjusted_depth(own, beside, planes, [&](int d) {
    return d >= 0 && d < costs.planes ? __ldg(of_pixel + d * costs.pitch) : invalid_cost();
  });
  pixel[0] = best.depth;
  pixel[size] = best.cost;
}

}  // namespace

void launch_block_costs(const CostPiece<std::uint16_t>& piece, const DeviceVolume& costs,
                        cudaStream_t stream) {
  const dim3 grid(blocks_for((costs.width + 1) / 2, kThreads), static_cast<unsigned>(piece.planes),
                  static_cast<unsigned>(piece.rows));
  cost_kernel<<<grid, kThreads, 0, stream>>>(piece, costs);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_block_colours(const std::uint8_t* const (&channel)[3], std::ptrdiff_t pitch, int width,
                          int height, Rgb8* colours, cudaStream_t stream) {
  const dim3 grid(blocks_for(width, kThreads), static_cast<unsigned>(height));
  colour_kernel<<<grid, kThreads, 0, stream>>>(channel[0], channel[1], channel[2], pitch, width, colours);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_block_winners(const DeviceVolume& costs, const PlaneSet& planes, float* results,
                          std::ptrdiff_t pitch, cudaStream_t stream) {
  launch_winners(whole_piece(costs), costs.width, costs.planes, {},
                 DepthStore{planes, results, pitch, costs.height * pitch}, stream);
}

void launch_piece_winners(const CostPiece<std::uint16_t>& piece, int width, const PlaneSet& planes,
                          WinnerScan* scans, float* results, std::ptrdiff_t pitch, cudaStream_t stream) {
  launch_winners(piece, width, planes.count, {scans, pitch},
                 DepthStore{planes, results, pitch, piece.rows * pitch}, stream);
}

void launch_block_edges(const DeviceVolume& costs, const PlaneSet& planes, float* results, float* depths,
                        std::ptrdiff_t pitch, cudaStream_t stream) {
  const std::size_t bytes = element_count({pitch, costs.height}) * sizeof(float);
  RECON_CUDA_TRY(cudaMemcpyAsync(depths, results, bytes, cudaMemcpyDeviceToDevice, stream));
  const dim3 grid(blocks_for(costs.width, kThreads), static_cast<unsigned>(costs.height));
  edge_kernel<<<grid, kThreads, 0, stream>>>(costs, planes, depths, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

namespace {

struct CappedCost {
  float cap;

  __device__ std::uint8_t operator()(float cost) const { return quantized_cost(cost, cap); }
  __device__ std::uint8_t operator()(std::uint16_t bits) const {
    return quantized_cost(__half2float(__ushort_as_half(bits)), cap);
  }
};

__global__ void __launch_bounds__(kThreads)
    depth_kernel(const PathWinner* winners, QuantizedCosts quantized, float cap, PlaneSet planes,
                 float* results, std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= quantized.width) return;
  const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(y) * quantized.width + x;
  const PathWinner winner = winners[index];
  const WinnerDepth result = semi_global_depth(
      winner, quantized.data[index * quantized.stride + plane_byte(winner.plane)], cap, planes);
  store_result(result, results + y * pitch + x, quantized.height * pitch);
}

}  // namespace

void launch_quantized_costs(const CostPiece<std::uint16_t>& piece, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream) {
  launch_quantize(piece, quantized, CappedCost{cap}, stream);
}

void launch_quantized_costs(const DeviceVolume& costs, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream) {
  launch_quantize(whole_piece(costs), quantized, CappedCost{cap}, stream);
}

void launch_path_depth(const PathWinner* winners, const QuantizedCosts& quantized, float cap,
                       const PlaneSet& planes, float* results, std::ptrdiff_t pitch, cudaStream_t stream) {
  const dim3 grid(blocks_for(quantized.width, kThreads), static_cast<unsigned>(quantized.height));
  depth_kernel<<<grid, kThreads, 0, stream>>>(winners, quantized, cap, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
