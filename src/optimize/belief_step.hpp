#pragma once

#include <limits>

#include "core/hd.hpp"

/// The steps of min-sum belief propagation over a grid (P. Felzenszwalb and D. Huttenlocher, Efficient belief
/// propagation for early vision, IJCV 2006), with the smoothness V(d, d') = min(|d - d'|, cap).

namespace recon {

/// The lower envelope of cones of slope 1 over h (section 4.1), first from left to right: the values that
/// `push` returns are kept for MessageFalling.
struct MessageRising {
  float lowest = std::numeric_limits<float>::infinity();
  float carry = std::numeric_limits<float>::infinity();

  /// @param h  data cost and the messages of the other three neighbours, for the next higher disparity
  RECON_HD float push(float h) {
    lowest = h < lowest ? h : lowest;
    const float cone = carry + 1.0f;
    carry = h < cone ? h : cone;
    return carry;
  }
};

/// Then from right to left, cut off at `cap` above the lowest h, which becomes 0: messages lie in [0, cap]
/// whatever the number of disparities and of iterations, so that no storage overflows. (The paper subtracts
/// the mean; constants make no difference to what is believed.)
struct MessageFalling {
  float lowest, limit;
  float carry = std::numeric_limits<float>::infinity();

  RECON_HD MessageFalling(float lowest_h, float cap) : lowest(lowest_h), limit(lowest_h + cap) {}

  /// The message, for the next lower disparity.
  RECON_HD float push(float rising) {
    const float cone = carry + 1.0f;
    carry = rising < cone ? rising : cone;
    return (carry < limit ? carry : limit) - lowest;
  }
};

/// What arrives at a pixel for one disparity; 0 from outside the image.
struct BeliefInput {
  float cost;
  float above, below, left, right;  ///< messages from the neighbours there

  RECON_HD float for_up() const { return (cost + (left + right)) + below; }
  RECON_HD float for_down() const { return (cost + (left + right)) + above; }
  RECON_HD float for_left() const { return (cost + (above + below)) + right; }
  RECON_HD float for_right() const { return (cost + (above + below)) + left; }
  RECON_HD float belief() const { return (cost + (left + right)) + (above + below); }
};

/// Iteration t updates the pixels of this parity of x + y.
RECON_HD int updated_parity(int iteration) {
  return (iteration + 1) & 1;
}

}  // namespace recon
