#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/optimize/belief/belief_grid.hpp"
#include "match/truncated_difference_step.hpp"

namespace recon::cuda {

/// Levels until the largest image that has an index is a single pixel.
inline constexpr int kMaxBeliefLevels = 32;

/// Places where blocks meet: two of each level, from the second place on.
inline constexpr int kBeliefCounters = 1 + 2 * kMaxBeliefLevels;

/// A pair on the device, rows `pitch` elements apart: as bytes, or, where it was blurred, as floats.
struct BeliefImages {
  const std::uint8_t *left = nullptr, *right = nullptr;
  const float *blurred_left = nullptr, *blurred_right = nullptr;
  int pitch = 0;
};

/// All that the launch takes.
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
  /// How many blocks share each level, set by the launch: the finest all, a coarser one no more than the next
  /// finer.
  int blocks[kMaxBeliefLevels];
  unsigned* counters = nullptr;  ///< kBeliefCounters, zeros before and after
  std::uint16_t* winners = nullptr;
  int winner_pitch = 0;
};

/// Costs of each level, all iterations of all levels in one cooperative launch, and the choice; see
/// recon::propagate_beliefs, whose bits these are.
void launch_belief(const BeliefArgs& args, BeliefStorage storage, cudaStream_t stream);

/// The same for one storage.
void launch_belief_float(const BeliefArgs& args, cudaStream_t stream);
void launch_belief_half(const BeliefArgs& args, cudaStream_t stream);
void launch_belief_bfloat16(const BeliefArgs& args, cudaStream_t stream);

}  // namespace recon::cuda
