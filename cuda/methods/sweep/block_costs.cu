#include <cuda_fp16.h>

#include "cuda/device/grid.hpp"
#include "cuda/methods/sweep/block_costs.hpp"
#include "cuda/optimize/semi_global/quantize.cuh"
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

/// A thread converts two neighbouring costs; rows of both are padded, so the second may lie outside.
__global__ void __launch_bounds__(kThreads)
    cost_kernel(const std::uint16_t* volume, std::ptrdiff_t pitch, BlockPiece piece, DeviceVolume costs) {
  const int x = 2 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const int d = static_cast<int>(blockIdx.y), row = static_cast<int>(blockIdx.z);
  if (x >= costs.width) return;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(row) * piece.planes + d;
  const __half2 two = *reinterpret_cast<const __half2*>(volume + line * pitch + x);
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
    winner_kernel(DeviceVolume costs, PlaneSet planes, float* results, std::ptrdiff_t pitch) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= costs.width) return;
  const float* cost = costs.row(y, 0) + x;
  WinnerScan scan;
  scan.clear();
#pragma unroll 8
  for (int d = 0; d < costs.planes; ++d, cost += costs.pitch) scan.push(__ldg(cost));
  store_result(winner_depth(scan.winner, planes), results + y * pitch + x, costs.height * pitch);
}

/// A thread scans two neighbouring pixels; rows are padded, so the second may lie outside.
__global__ void __launch_bounds__(kThreads)
    piece_winner_kernel(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, BlockPiece piece, int width,
                        PlaneSet planes, WinnerScan* scans, float* results, std::ptrdiff_t pitch) {
  const int x = 2 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x), row = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const std::uint16_t* costs = volume + static_cast<std::ptrdiff_t>(row) * piece.planes * volume_pitch + x;
  WinnerScan scan[2];
  for (int i = 0; i < 2; ++i) {
    scan[i].clear();
    if (piece.plane > 0 && x + i < width) scan[i] = scans[row * pitch + x + i];
  }
#pragma unroll 8
  for (int d = 0; d < piece.planes; ++d) {
    const float2 two = __half22float2(__ldg(reinterpret_cast<const __half2*>(costs + d * volume_pitch)));
    scan[0].push(two.x);
    scan[1].push(two.y);
  }
  const bool ends = piece.plane + piece.planes == planes.count;
  for (int i = 0; i < 2 && x + i < width; ++i) {
    const std::ptrdiff_t at = row * pitch + x + i;
    if (ends)
      store_result(winner_depth(scan[i].winner, planes), results + at, piece.rows * pitch);
    else
      scans[at] = scan[i];
  }
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

void launch_block_costs(const std::uint16_t* volume, std::ptrdiff_t pitch, const BlockPiece& piece,
                        const DeviceVolume& costs, cudaStream_t stream) {
  const dim3 grid(blocks_for((costs.width + 1) / 2, kThreads), static_cast<unsigned>(piece.planes),
                  static_cast<unsigned>(piece.rows));
  cost_kernel<<<grid, kThreads, 0, stream>>>(volume, pitch, piece, costs);
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
  const dim3 grid(blocks_for(costs.width, kThreads), static_cast<unsigned>(costs.height));
  winner_kernel<<<grid, kThreads, 0, stream>>>(costs, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_piece_winners(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, const BlockPiece& piece,
                          int width, const PlaneSet& planes, WinnerScan* scans, float* results,
                          std::ptrdiff_t pitch, cudaStream_t stream) {
  const dim3 grid(blocks_for((width + 1) / 2, kThreads), static_cast<unsigned>(piece.rows));
  piece_winner_kernel<<<grid, kThreads, 0, stream>>>(volume, volume_pitch, piece, width, planes, scans,
                                                     results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
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

void launch_quantized_costs(const std::uint16_t* volume, std::ptrdiff_t pitch, const BlockPiece& piece,
                            const QuantizedCosts& quantized, float cap, cudaStream_t stream) {
  const CostPiece<std::uint16_t> costs{volume, pitch, piece.row, piece.rows, piece.plane, piece.planes};
  launch_quantize(costs, quantized, CappedCost{cap}, stream);
}

void launch_quantized_costs(const DeviceVolume& costs, const QuantizedCosts& quantized, float cap,
                            cudaStream_t stream) {
  const CostPiece<float> all{costs.data, costs.pitch, 0, costs.height, 0, costs.planes};
  launch_quantize(all, quantized, CappedCost{cap}, stream);
}

void launch_path_depth(const PathWinner* winners, const QuantizedCosts& quantized, float cap,
                       const PlaneSet& planes, float* results, std::ptrdiff_t pitch, cudaStream_t stream) {
  const dim3 grid(blocks_for(quantized.width, kThreads), static_cast<unsigned>(quantized.height));
  depth_kernel<<<grid, kThreads, 0, stream>>>(winners, quantized, cap, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
