#pragma once

#include <cstddef>

#include "optimize/belief/belief_layout.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon {

/// Columns are worked on in multiples of this; vectors have no more lanes.
inline constexpr int kBeliefColumnStep = 16;
/// Floats that an update keeps per disparity.
inline constexpr int kBeliefScratch = 4 * kBeliefColumnStep;
/// The greatest finite half.
inline constexpr float kMostHalf = 65504.0f;

/// The pixels of one parity in one row; of each array, disparity d begins d times the pitch behind disparity
/// 0.
template <class T>
struct BeliefRow {
  const T* cost;
  const T *above, *below, *left, *right;  ///< what arrives from there, at column 0
  std::ptrdiff_t cost_pitch, pitch;       ///< of the costs; of all others but:
  std::ptrdiff_t above_pitch,
      below_pitch;                      ///< 0 where there is no row and `above` or `below` points to zeros
  int first_with_left, end_with_right;  ///< columns outside have no neighbour there
  T* sent[kMessageCount];
  int disparities;
  float cap;
};

/// Costs of two rows for one disparity by parity of x.
template <class T>
struct BeliefQuads {
  const T *upper_even, *upper_odd, *lower_even, *lower_odd;
  int even_columns, odd_columns;
};

}  // namespace recon
