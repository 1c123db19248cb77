#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/adaptive_weight_step.hpp"
#include "cuda/aggregate/device_volume.hpp"
#include "match/pair_side.hpp"

namespace recon::cuda {

/// Colours of the views on the device, see recon::SupportViews; both images have the volume's size.
struct ColourImages {
  const Rgb8* reference = nullptr;
  const Rgb8* source = nullptr;  ///< null: there is none, the reference alone decides
  std::ptrdiff_t pitch = 0;      ///< pixels from one row to the next, of both
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;
};

/// Bytes of scratch memory that queue_adaptive_weight takes: both images in CIELab, and where the costs have
/// gaps.
std::size_t adaptive_weight_bytes(int width, int planes, int height);

/// Queues recon::adaptive_weight. Weights and sums are of single precision, square roots and exponentials the
/// device's fast ones: means are within 2e-5 of the exact ones, relatively. The same bits on every run.
/// @param costs       (y, d, x), finite or +infinity (no cost)
/// @param aggregated  of the same shape, apart from `costs`
/// @param scratch     adaptive_weight_bytes of memory, aligned to 256 bytes
/// @throws std::logic_error where shapes differ or an option is out of range; DeviceError
void queue_adaptive_weight(const ColourImages& images, const AdaptiveWeightOptions& options,
                           const DeviceVolume& costs, const DeviceVolume& aggregated, std::byte* scratch,
                           cudaStream_t stream);

}  // namespace recon::cuda
