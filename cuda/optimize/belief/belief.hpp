#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/optimize/belief/belief_grid.hpp"
#include "match/truncated_difference_step.hpp"

namespace recon::cuda {

/// Max number of levels: the coarsest level of the largest image with 32-bit indices is a single pixel.
inline constexpr int kMaxBeliefLevels = 32;

/// Counters of the barriers: two per level, starting at the second one.
inline constexpr int kBeliefCounters = 1 + 2 * kMaxBeliefLevels;

/// A pair on the device, rows `pitch` elements apart: as bytes, or as floats if it was blurred.
struct BeliefImages {
  const std::uint8_t *left = nullptr, *right = nullptr;
  const float *blurred_left = nullptr, *blurred_right = nullptr;
  int pitch = 0;
};

/// The arguments of the launch.
struct BeliefArgs {
  BeliefGrid levels[kMaxBeliefLevels];
  int level_count = 0;
  int disparities = 0;
  int iterations = 0;
  float cap = 0;  ///< of the smoothness
  TruncatedDifference cost{};
  int min_disparity = 0;
  BeliefImages images;
  void* arena = nullptr;  ///< costs and messages of all levels
  /// Number of thread blocks per level, set by the launch: all for the finest, for a coarser level at most as
  /// many as for the next finer one.
  int blocks[kMaxBeliefLevels];
  unsigned* counters = nullptr;  ///< kBeliefCounters counters, zero before and after
  std::uint16_t* winners = nullptr;
  int winner_pitch = 0;
};

/// Computes the costs of each level, all iterations of all levels in one cooperative launch, and the labels;
/// bit-identical to recon::propagate_beliefs.
void launch_belief(const BeliefArgs& args, BeliefStorage storage, cudaStream_t stream);

/// The same for one storage type.
void launch_belief_float(const BeliefArgs& args, cudaStream_t stream);
void launch_belief_half(const BeliefArgs& args, cudaStream_t stream);
void launch_belief_bfloat16(const BeliefArgs& args, cudaStream_t stream);

}  // namespace recon::cuda
