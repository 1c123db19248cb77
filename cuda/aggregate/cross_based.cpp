#include "cuda/aggregate/cross_based.hpp"

#include <utility>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/memory.hpp"

namespace recon::cuda {

std::size_t cross_based_bytes(int width, int planes, int height, const CrossBasedOptions& options, int) {
  if (options.iterations == 0 || width == 0 || planes == 0 || height == 0) return 0;
  return arena_bytes(device_volume_floats(width, planes, height) * sizeof(float)) +
         cross_by_sums_bytes(width, planes, height);
}

DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options,
                               const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream) {
  EXPECTS(options.iterations >= 0 && options.iterations <= 64);
  EXPECTS(costs.width <= kMaxAggregatedWidth);
  EXPECTS(arms.longest >= 0 && arms.longest <= 255);
  if (costs.empty()) return costs;
  DeviceVolume other = costs;
  other.data = reinterpret_cast<float*>(scratch);
  CrossPass pass{arms, options.first, costs, other};
  std::byte* sums =
      scratch + arena_bytes(device_volume_floats(costs.width, costs.planes, costs.height) * sizeof(float));
  for (int i = 0; i < options.iterations; ++i) {
    queue_cross_by_sums(pass, sums, stream);
    std::swap(pass.costs, pass.means);
    pass.order = pass.order == CrossOrder::kHorizontal ? CrossOrder::kVertical : CrossOrder::kHorizontal;
  }
  return pass.costs;
}

}  // namespace recon::cuda
