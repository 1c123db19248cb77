#pragma once

#include <cstddef>

#include "cuda/testing/cuda_sweep.hpp"
#include "methods/stereo/pair.hpp"

/// Belief propagation on a GPU by parts, for tests and the benchmark: no CUDA type appears here, and a build
/// without CUDA has these functions too, which then throw DeviceUnavailable.

namespace recon::cuda {

/// A pair matched, what was said before of the memory, and what was taken.
struct BeliefRun {
  DisparityMap map;
  std::size_t planned_bytes = 0;
  std::size_t arena_bytes = 0;
};
/// @throws OutOfMemory, DeviceUnavailable, DeviceError
BeliefRun run_belief(const PairProblem& problem, int device = 0);

struct BeliefTimes {
  TimeSpread with_transfers;  ///< page-locked images to page-locked winners, by events
  TimeSpread kernels;         ///< the same without both copies
  TimeSpread whole;           ///< the call from and to the caller's memory, by the host's clock
  std::size_t device_bytes = 0;
};

/// Times `repeats` calls after a warm-up of three.
BeliefTimes time_belief(const PairProblem& problem, int repeats, int device = 0);

}  // namespace recon::cuda
