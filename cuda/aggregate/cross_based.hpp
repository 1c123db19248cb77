#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Crosses of the views on the device, see recon::SupportViews and cuda/match/cross_arms.hpp; both images
/// have the size of the volume.
struct CrossImages {
  const Cross* reference = nullptr;
  const Cross* source = nullptr;  ///< null: no source; only the reference is used
  std::ptrdiff_t pitch = 0;       ///< crosses from one row to the next, in both
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;
  int longest = 255;  ///< max arm length: CrossOptions::reach - 1
};

/// Bytes of scratch memory for queue_cross_based on the current device.
std::size_t cross_based_bytes(int width, int planes, int height, const CrossBasedOptions& options,
                              int longest);

/// Queues recon::cross_based, bit-identical.
/// @param max_cost max finite cost
/// @param costs    (y, d, x), 0 .. `max_cost`, or +infinity (no cost); at most kMaxAggregatedWidth wide;
///                 contents undefined afterwards, unless this volume is returned
/// @param scratch  cross_based_bytes of memory, aligned to 256 bytes
/// @return the result: `costs` itself, or a volume of its shape in `scratch`
/// @throws std::logic_error if an option or the max cost is out of range; DeviceError
DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options, float max_cost,
                               const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
