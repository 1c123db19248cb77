#pragma once

#include <cstddef>

#include "optimize/belief/belief_layout.hpp"
#include "optimize/belief/belief_step.hpp"

namespace recon {

/// Columns are processed in multiples of this, the max number of SIMD lanes.
inline constexpr int kBeliefColumnStep = 16;
/// Scratch floats of an update per disparity.
inline constexpr int kBeliefScratch = 4 * kBeliefColumnStep;
/// The largest finite half.
inline constexpr float kMostHalf = 65504.0f;

/// The pixels of one parity in one row; in each array, disparity d is at an offset of d times the pitch.
template <class T>
struct BeliefRow {
  const T* cost;
  const T *above, *below, *left, *right;  ///< incoming messages, at column 0
  std::ptrdiff_t cost_pitch, pitch;       ///< of the costs; of all other arrays except:
  std::ptrdiff_t above_pitch,
      below_pitch;                      ///< 0 if there is no row and `above` or `below` points to zeros
  int first_with_left, end_with_right;  ///< columns outside have no left or right neighbour
  T* sent[kMessageCount];
  int disparities;
  float cap;
};

/// Costs of two rows for one disparity, by parity of x.
template <class T>
struct BeliefQuads {
  const T *upper_even, *upper_odd, *lower_even, *lower_odd;
  int even_columns, odd_columns;
};

}  // namespace recon
