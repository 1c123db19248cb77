#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "cuda/device/memory.hpp"
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

/// Sums along one direction of a few planes at a time.
struct CrossSums {
  double* sums = nullptr;
  int* counts = nullptr;
  int planes = 0;  ///< at a time

  /// For costs of a shape. Never more than for a larger one.
  static CrossSums take(int width, int planes, int height, Arena& arena);
};

/// Scratch memory of queue_cross_based.
struct CrossMemory {
  float* volume = nullptr;  ///< means, in their layout or with x and y exchanged
  Cross* crosses[2] = {};   ///< of both views with x and y exchanged
  CrossSums sums;           ///< for arms that are too long for strips

  /// On the current device, for costs of a shape. @param longest  see CrossImages
  static CrossMemory take(int width, int planes, int height, const CrossBasedOptions& options, int longest,
                          Arena& arena);
};

/// Queues recon::cross_based, bit-identical.
/// @param max_cost max finite cost
/// @param costs    (y, d, x), 0 .. `max_cost`, or +infinity (no cost); at most kMaxAggregatedWidth wide;
///                 contents undefined afterwards, unless this volume is returned
/// @param memory   taken for the shape
/// @return the result: `costs` itself, or a volume of its shape in `memory`
/// @throws std::logic_error if an option or the max cost is out of range; DeviceError
DeviceVolume queue_cross_based(const CrossImages& arms, const CrossBasedOptions& options, float max_cost,
                               const DeviceVolume& costs, const CrossMemory& memory, cudaStream_t stream);

}  // namespace recon::cuda
