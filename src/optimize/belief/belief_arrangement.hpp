#pragma once

namespace recon {

/// Memory layout of a basic belief propagation on a GPU: optimisations that the benchmark enables one by one.
/// The layout does not affect the result. Source: S. Grauer-Gray and C. Kambhamettu, Hierarchical belief
/// propagation to reduce search space using CUDA for stereo and motion estimation, 2009, and the later
/// cudaBeliefProp.
struct BeliefArrangement {
  bool columns_fastest = false;  ///< (y, d, x) with x fastest, otherwise (y, x, d) with d fastest
  bool one_allocation = false;   ///< otherwise one per level for costs and for messages of each direction
  int row_bytes = 0;  ///< with columns_fastest: rows are padded to multiples of this; 0: no padding
  bool known_disparities = false;  ///< with columns_fastest: compile-time counts 16, 21, 32, 64 and 128
};

}  // namespace recon
