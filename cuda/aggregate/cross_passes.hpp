#pragma once

#include "aggregate/cost_unit_step.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// One iteration of cross-based aggregation.
struct CrossPass {
  CrossImages arms;  ///< without a reference image all of max length, clipped at the border: a window
  CrossOrder order;
  DeviceVolume costs, means;  ///< of the same shape, not overlapping
  CostUnit unit;
};

/// Queues an iteration for arms of any length: sums along one direction are stored, a few planes at a time.
/// @param sums  memory for the shape of the volumes
/// @throws DeviceError
void queue_cross_by_sums(const CrossPass& pass, const CrossSums& sums, cudaStream_t stream);

/// An iteration that sums along the horizontal arms first and stores no intermediate sums. The other order is
/// the same on a transposed volume: x and y of costs and crosses are exchanged.
struct StripPass {
  CrossImages arms;  ///< in the layout of the volume
  bool transposed;   ///< costs and arms are transposed: the match of a pixel is in another row, not column
  bool transposed_means;  ///< the means are stored transposed
  DeviceVolume costs, means;
  CostUnit unit;
};

/// Whether arms of this length (pixels) fit in the shared memory of the current device.
bool cross_fits_strips(int longest);
/// Queues such an iteration; `cross_fits_strips(pass.arms.longest)`. @throws DeviceError
void queue_cross_strips(const StripPass& pass, cudaStream_t stream);

/// Queues the transposition of an image of crosses, which exchanges x and y, and their arms likewise.
/// @param width, height            of `crosses`, pixels
/// @param pitch, transposed_pitch  crosses from one row to the next
/// @throws DeviceError
void queue_transpose(const Cross* crosses, std::ptrdiff_t pitch, int width, int height, Cross* transposed,
                     std::ptrdiff_t transposed_pitch, cudaStream_t stream);

}  // namespace recon::cuda
