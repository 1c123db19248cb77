#pragma once

#include <limits>

#include "core/hd.hpp"

/// The steps of min-sum belief propagation over a grid (P. Felzenszwalb and D. Huttenlocher, Efficient belief
/// propagation for early vision, IJCV 2006), with the smoothness V(d, d') = min(|d - d'|, cap).

namespace recon {

/// Larger than any belief.
inline constexpr float kNoBelief = std::numeric_limits<float>::infinity();

/// The lower of two numbers, neither of them NaN or a negative zero.
RECON_HD float lower_belief(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fminf(a, b);  // one instruction instead of a comparison and a select
#else
  return a < b ? a : b;
#endif
}

/// The lower envelope of cones of slope 1 over h (section 4.1), forward pass: the values returned by `push`
/// are the input of MessageFalling.
struct MessageRising {
  float lowest = kNoBelief;
  float carry = kNoBelief;

  /// @param h  data cost and the messages of the other three neighbours, at the next higher disparity
  RECON_HD float push(float h) {
    lowest = lower_belief(h, lowest);
    carry = lower_belief(h, carry + 1.0f);
    return carry;
  }
};

/// Backward pass, truncated at `cap` above the min of h, which is subtracted: messages lie in [0, cap] for
/// any number of disparities and iterations, so that no storage overflows. (The paper subtracts the mean;
/// constants do not change the winner.)
struct MessageFalling {
  float lowest, limit;
  float carry = kNoBelief;

  RECON_HD MessageFalling(float lowest_h, float cap) : lowest(lowest_h), limit(lowest_h + cap) {}

  /// The message at the next lower disparity.
  RECON_HD float push(float rising) {
    carry = lower_belief(rising, carry + 1.0f);
    return lower_belief(carry, limit) - lowest;
  }
};

/// Input of the message of a pixel to one neighbour at a disparity: its data cost and the messages from the
/// two neighbours of the other axis and from the opposite one.
RECON_HD float message_input(float cost, float one_side, float other_side, float opposite) {
  return (cost + (one_side + other_side)) + opposite;
}

/// Belief of a pixel in a disparity from its data cost and all messages; lower is better.
RECON_HD float belief_value(float cost, float above, float below, float left, float right) {
  return (cost + (left + right)) + (above + below);
}

/// Iteration t updates the pixels of this parity of x + y.
RECON_HD int updated_parity(int iteration) {
  return (iteration + 1) & 1;
}

}  // namespace recon
