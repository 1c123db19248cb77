#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/cross_based.hpp"
#include "cuda/aggregate/device_volume.hpp"

namespace recon::cuda {

/// Crosses of the views on the device, see recon::SupportViews and cuda/match/cross_arms.hpp; both images
/// have the volume's size.
struct CrossImages {
  const Cross* reference = nullptr;
  const Cross* source = nullptr;  ///< null: there is none, the reference alone decides
  std::ptrdiff_t pitch = 0;       ///< crosses from one row to the next, of both
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;
  int longest = 255;  ///< no arm is longer: CrossOptions::reach - 1
};

/// Bytes of scratch memory that queue_cross_based takes on the current device.
std::size_t cross_based_bytes(int width, int planes, int height, const CrossBasedOptions& options,
                              int longest);

/// Queues recon::cross_based, with the same bits.
/// @param greatest no finite cost is greater
/// @param costs    (y, d, x), 0 .. `greatest`, or +infinity (no cost); at most kMaxAggregatedWidth wide;
///                 overwritten with anything, unless what is returned is this volume
/// @param scratch  cross_based_bytes of memory, aligned to 256 bytes
/// @return where the result is: `costs` itself, or a volume of its shape within `scratch`
/// @throws std::logic_error where an option or the greatest cost is out of range; DeviceError
DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options, float greatest,
                               const DeviceVolume& costs, std::byte* scratch, cudaStream_t stream);

}  // namespace recon::cuda
