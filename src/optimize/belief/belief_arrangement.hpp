#pragma once

namespace recon {

/// How a plain belief propagation on a GPU keeps its numbers: what the benchmark switches on one by one. The
/// order of the disparities, of the arrays and of the rows makes no difference to the result. Source: S.
/// Grauer-Gray and C. Kambhamettu, Hierarchical belief propagation to reduce search space using CUDA for
/// stereo and motion estimation, 2009, and the later cudaBeliefProp.
struct BeliefArrangement {
  bool columns_fastest = false;  ///< (y, d, x) with x fastest, otherwise (y, x, d) with d fastest
  bool one_allocation = false;   ///< otherwise one for each level's costs and messages in each direction
  int row_bytes = 0;             ///< with columns_fastest: rows are padded to a multiple of it; 0: not padded
  bool known_disparities = false;  ///< with columns_fastest: 16, 21, 32, 64 and 128 are compiled in
};

}  // namespace recon
