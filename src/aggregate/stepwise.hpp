#pragma once

namespace recon {

/// Aggregation kernels for the GPU, each with one optimisation more than the previous one, after Fang et al.
/// 2012, section IV; see cuda/aggregate/stepwise_aggregation.hpp.
enum class Stepwise {
  kWindowAlongD,    ///< one thread per sample, neighbouring threads along d; direct sums
  kWindowAlongX,    ///< neighbouring threads along x
  kWindowShared,    ///< costs of a tile in shared memory
  kWindowUnrolled,  ///< four rows per thread
  kWeightAlongD,    ///< as for the window; each weight is recomputed
  kWeightAlongX,
  kWeightShared,    ///< colours of the reference in shared memory
  kWeightUnrolled,  ///< four planes per thread, which share the weights of the reference
  kCrossSerial,     ///< prefix sums, one thread per row, then one per column; planes in sequence
  kCrossPlanes,     ///< all planes in parallel
  kCrossCoalesced,  ///< one thread block per row: neighbouring threads read neighbouring columns
};

inline constexpr int kMaxStepwiseRadius = 16;

}  // namespace recon
