#pragma once

#include "aggregate/cost_unit_step.hpp"
#include "cuda/aggregate/cross_based.hpp"

namespace recon::cuda {

/// One iteration of cross-based aggregation.
struct CrossPass {
  CrossImages arms;
  CrossOrder order;
  DeviceVolume costs, means;  ///< of the same shape, apart from each other
  CostUnit unit;
};

/// For arms of any length: sums along one direction are stored, a few planes at a time.
/// A smaller volume takes no more.
std::size_t cross_by_sums_bytes(int width, int planes, int height);
void queue_cross_by_sums(const CrossPass& pass, std::byte* scratch, cudaStream_t stream);

/// An iteration that goes along the horizontal arms first and stores nothing between. The other order is the
/// same on a turned volume: x and y are exchanged, of costs and of crosses.
struct StripPass {
  CrossImages arms;  ///< of the volume as it lies in memory
  bool turned;       ///< costs and arms are turned: the match of a pixel is in another row, not column
  bool turn;         ///< the means are stored with x and y exchanged
  DeviceVolume costs, means;
  CostUnit unit;
};

/// Whether the current device has room for arms of this length.
bool cross_fits_strips(int longest);
void queue_cross_strips(const StripPass& pass, cudaStream_t stream);

/// Exchanges x and y.
/// @param turned  of width = the height of `volume`, and the other way round
void queue_turn(const DeviceVolume& volume, const DeviceVolume& turned, cudaStream_t stream);
/// Of crosses, whose arms change places too; `pitch` and `turned_pitch` in crosses.
void queue_turn(const Cross* crosses, std::ptrdiff_t pitch, int width, int height, Cross* turned,
                std::ptrdiff_t turned_pitch, cudaStream_t stream);

}  // namespace recon::cuda
