#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/testing/cuda_sweep.hpp"
#include "methods/stereo/pair.hpp"

/// Block matching on a GPU by parts, for tests and the benchmark: no CUDA type appears here, and a build
/// without CUDA has these functions too, which then throw DeviceUnavailable.

namespace recon::cuda {

/// Matches a pair; the device's memory is filled with `poison` before.
struct BlockRun {
  DisparityMap map;
  std::size_t planned_bytes = 0;  ///< what was said before
  std::size_t arena_bytes = 0;    ///< what was allocated
};
BlockRun run_block_matching(const PairProblem& problem, std::uint8_t poison, int device = 0);

/// Milliseconds, from images on the device to the map on the device by events; a pair at a time.
struct BlockTimes {
  TimeSpread whole;   ///< prefilter, search, checks and median, queued at once
  TimeSpread search;  ///< the search of the finest level alone
  TimeSpread call;    ///< from and to host memory, by the host's clock
  std::size_t device_bytes = 0;
};

/// Times `repeats` runs after a warm-up of three.
/// @param tile_width, strip_rows  of what one warp searches; 0: as block_matching chooses them
BlockTimes time_block_matching(const PairProblem& problem, int tile_width, int strip_rows, int repeats,
                               int device = 0);

}  // namespace recon::cuda
