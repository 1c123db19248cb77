#include "cuda/methods/sweep/quantized_costs.hpp"
#include "cuda/optimize/semi_global/quantize.cuh"
#include "methods/sweep/depth_step.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kThreads = 128;

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
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(quantized.height) * pitch;
  float* pixel = results + static_cast<std::ptrdiff_t>(y) * pitch + x;
  pixel[0] = result.depth;
  pixel[size] = result.cost;
  pixel[2 * size] = result.confidence;
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
  const dim3 grid(static_cast<unsigned>((quantized.width + kThreads - 1) / kThreads),
                  static_cast<unsigned>(quantized.height));
  depth_kernel<<<grid, kThreads, 0, stream>>>(winners, quantized, cap, planes, results, pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
