#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/testing/cuda_sweep.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/semi_global/semi_global.hpp"

/// Methods for pairs on a GPU, whole and by parts, for tests and the benchmark: no CUDA type appears here. A
/// build without CUDA has what the benchmark calls, which then throws DeviceUnavailable.

namespace recon::cuda {

/// A pair matched on a device whose memory was filled with `poison` before.
struct PairRun {
  DisparityMap map;
  std::size_t planned_bytes = 0;  ///< predicted
  std::size_t arena_bytes = 0;    ///< allocated
};

/// Runs the method of the options. @throws OutOfMemory, DeviceUnavailable, DeviceError
PairRun run_pair(const PairProblem& problem, std::uint8_t poison, int device = 0);

/// Milliseconds, from images on the device to the map on the device by events; a pair at a time.
struct BlockTimes {
  TimeSpread whole;   ///< prefilter, search, checks and median, queued at once
  TimeSpread search;  ///< the search of the finest level alone
  TimeSpread call;    ///< from and to host memory, by the host's clock
  std::size_t device_bytes = 0;
};

/// Times `repeats` runs after a warm-up of three.
BlockTimes time_block_matching(const PairProblem& problem, int repeats, int device = 0);

struct BeliefTimes {
  TimeSpread with_transfers;  ///< page-locked images to page-locked winners, by events
  TimeSpread kernels;         ///< the same without both copies
  TimeSpread whole;           ///< the call from and to the caller's memory, by the host's clock
  std::size_t device_bytes = 0;
};

/// Times `repeats` calls after a warm-up of three.
BeliefTimes time_belief(const PairProblem& problem, int repeats, int device = 0);

/// The optimizer alone, over costs by (y, x, d) without padding.
struct PathWinners {
  std::vector<PathWinner> winners;          ///< by pixel
  std::vector<std::uint16_t> right_planes;  ///< by pixel, or empty; kNoPlane where there is none
};
struct GivenCosts {
  const std::vector<std::uint8_t>* costs = nullptr;
  int max_cost = 255;
  int planes = 0;
  ImageView<const std::uint8_t> guide;
  SemiGlobalOptions options;
  bool right_view = false;
  int min_disparity = 0;
  int sums = 0;  ///< see SemiGlobalInput
};
PathWinners optimize_given_costs(const GivenCosts& given, std::uint8_t poison, int device = 0);

/// Milliseconds by events, from images on the device to disparities on the device.
struct SemiGlobalTimes {
  TimeSpread whole;  ///< one graph
  /// The stages one by one, each alone on the device; they may sum up to more than `whole`.
  TimeSpread transform, costs, paths, winner, disparity, median;
  TimeSpread call;  ///< from and to host memory, by the host's clock
  std::size_t device_bytes = 0;
};
SemiGlobalTimes time_semi_global(const PairProblem& problem, int repeats, int device = 0);

}  // namespace recon::cuda
