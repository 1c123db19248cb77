#pragma once

#include <cuda_runtime_api.h>

#include "aggregate/adaptive_weight_step.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"

namespace recon::cuda {

/// Colours of the views on the device, see recon::SupportViews; both images have the size of the volume.
struct ColourImages {
  const Rgb8* reference = nullptr;
  const Rgb8* source = nullptr;  ///< null: no source; only the reference is used
  std::ptrdiff_t pitch = 0;      ///< pixels from one row to the next, in both
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;
};

/// Scratch memory of queue_adaptive_weight: both images in CIELab, and the gap flags of the costs.
struct WeightMemory {
  float *reference, *source, *gaps;

  static WeightMemory take(int width, int planes, int height, Arena& arena);
};

/// Queues recon::adaptive_weight. Weights and sums are in single precision, with the device's fast square
/// roots and exponentials: means have a relative error of at most 2e-5. Bit-identical in every run.
/// @param costs       (y, d, x), finite or +infinity (no cost)
/// @param aggregated  of the same shape; does not overlap `costs`
/// @param memory      taken for the shape
/// @throws std::logic_error if shapes differ or an option is out of range; DeviceError
void queue_adaptive_weight(const ColourImages& images, const AdaptiveWeightOptions& options,
                           const DeviceVolume& costs, const DeviceVolume& aggregated,
                           const WeightMemory& memory, cudaStream_t stream);

}  // namespace recon::cuda
