#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hd.hpp"
#include "match/truncated_difference_step.hpp"
#include "optimize/belief/belief_arrangement.hpp"
#include "optimize/belief/belief_layout.hpp"

namespace recon::cuda {

/// One level of the plain implementation. A row's pixels of one parity of x + y follow each other, as in the
/// papers' implementation.
struct StepwiseLevel {
  int width = 0, height = 0;
  int columns = 0;  ///< of one parity that a row has room for
  void* costs = nullptr;
  void* messages[kMessageCount] = {};  ///< kept at the pixel that sends them

  /// Pixels of the costs, or of the messages in one direction.
  RECON_HD std::ptrdiff_t room() const { return std::ptrdiff_t{2} * height * columns; }
  /// Where the row of a pixel begins, in pixels.
  RECON_HD std::ptrdiff_t row(int x, int y) const {
    return (std::ptrdiff_t{2} * y + ((x + y) & 1)) * columns;
  }
};

/// All that the launches take; all memory is the device's.
struct StepwiseBelief {
  std::vector<StepwiseLevel> levels;  ///< level 0 the finest
  int disparities = 0;
  int iterations = 0;
  float cap = 0;  ///< of the smoothness
  TruncatedDifference cost{};
  int min_disparity = 0;
  const std::uint8_t *left = nullptr, *right = nullptr;  ///< rows without padding
  float* kept = nullptr;                                 ///< of stepwise_kept_floats
  std::uint16_t* winners = nullptr;                      ///< rows without padding
};

/// The levels without their memory.
std::vector<StepwiseLevel> stepwise_levels(const BeliefShape& shape, const BeliefOptions& options,
                                           const BeliefArrangement& arrangement);

/// Whether the arrangement has a kernel of its own for this number of disparities.
bool knows_disparities(const BeliefArrangement& arrangement, int disparities);

/// Floats that the updates keep between their two passes over the disparities, where their number is not
/// known at compile time.
std::size_t stepwise_kept_floats(const StepwiseLevel& finest, const BeliefArrangement& arrangement,
                                 int disparities);

/// Belief propagation as it is first written for a GPU, the baseline of the benchmark: one thread a pixel,
/// one launch an iteration. Steps and results are those of recon::propagate_beliefs, to the bit.
/// @throws DeviceError
void launch_stepwise_belief(const StepwiseBelief& belief, const BeliefArrangement& arrangement,
                            BeliefStorage storage, cudaStream_t stream);

}  // namespace recon::cuda
