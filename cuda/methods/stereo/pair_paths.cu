#include <cmath>

#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/optimize/semi_global/quantize.cuh"
#include "cuda/optimize/winner/winner.cuh"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"

namespace recon::cuda {
namespace {

struct WholeCost {
  float steps, max;

  __device__ std::uint8_t operator()(float cost) const { return whole_cost(cost, steps, max); }
};

/// Stores winners as disparities, rows without padding.
struct DisparityStore {
  int min_disparity, width;
  float* disparity;

  __device__ void operator()(int x, int row, const Winner& winner) const {
    const float found = static_cast<float>(min_disparity + winner.plane);
    disparity[static_cast<std::ptrdiff_t>(row) * width + x] = winner.plane < 0 ? NAN : found;
  }
};

__global__ void disparity_kernel(PairWinners pair, WinnerChecks checks, int min_disparity, float* disparity) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= pair.width) return;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * pair.width;
  const auto right_plane = [&](int matched) { return pair.right_keys[row + matched] & 0xFFFFu; };
  disparity[row + x] =
      winner_disparity(checks, min_disparity, pair.width, x, pair.winners[row + x], right_plane);
}

}  // namespace

void launch_whole_costs(const DeviceVolume& costs, float steps, int max, const QuantizedCosts& quantized,
                        cudaStream_t stream) {
  launch_quantize(whole_piece(costs), quantized, WholeCost{steps, static_cast<float>(max)}, stream);
}

void queue_min_cost(const DeviceVolume& costs, int min_disparity, float* disparity, cudaStream_t stream) {
  launch_winners(whole_piece(costs), costs.width, costs.planes, {},
                 DisparityStore{min_disparity, costs.width, disparity}, stream);
}

void launch_pair_disparity(const PairWinners& winners, const WinnerChecks& checks, int min_disparity,
                           float* disparity, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((winners.width + 127) / 128), static_cast<unsigned>(winners.height));
  disparity_kernel<<<grid, 128, 0, stream>>>(winners, checks, min_disparity, disparity);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
