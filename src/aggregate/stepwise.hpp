#pragma once

namespace recon {

/// Plain implementations of aggregation for a GPU, each with one optimisation more than the one before, after
/// Fang et al. 2012, section IV; see cuda/aggregate/stepwise_aggregation.hpp.
enum class Stepwise {
  kWindowAlongD,    ///< a thread a sample, neighbouring threads along d; direct sums
  kWindowAlongX,    ///< along x
  kWindowShared,    ///< costs of a tile in shared memory
  kWindowUnrolled,  ///< four rows a thread
  kWeightAlongD,    ///< as for the window; each weight is made anew
  kWeightAlongX,
  kWeightShared,    ///< colours of the reference in shared memory
  kWeightUnrolled,  ///< four planes a thread, to which the reference's weights are common
  kCrossSerial,     ///< prefix sums by a thread a row and then a thread a column, plane after plane
  kCrossPlanes,     ///< all planes at the same time
  kCrossCoalesced,  ///< rows by thread blocks: neighbouring threads read neighbouring columns
};

inline constexpr int kMaxStepwiseRadius = 16;

}  // namespace recon
