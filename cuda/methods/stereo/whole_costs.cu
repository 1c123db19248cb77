#include "cuda/methods/stereo/whole_costs.hpp"
#include "cuda/optimize/semi_global/quantize.cuh"
#include "methods/stereo/whole_cost_step.hpp"

namespace recon::cuda {
namespace {

struct WholeCost {
  float steps, max;

  __device__ std::uint8_t operator()(float cost) const { return whole_cost(cost, steps, max); }
};

}  // namespace

void launch_whole_costs(const DeviceVolume& costs, float steps, int max, const QuantizedCosts& quantized,
                        cudaStream_t stream) {
  const CostPiece<float> all{costs.data, costs.pitch, 0, costs.height, 0, costs.planes};
  launch_quantize(all, quantized, WholeCost{steps, static_cast<float>(max)}, stream);
}

}  // namespace recon::cuda
