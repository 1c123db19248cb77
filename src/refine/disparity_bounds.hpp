#pragma once

#include "core/hd.hpp"

namespace recon {

/// The first and the last disparity searched. A pixel that has one of them may belong beyond; the others are
/// at least half a pixel from both, as sub-pixel interpolation leaves them.
struct DisparityBounds {
  float first, last;
};
RECON_HD DisparityBounds disparity_bounds(int min, int count) {
  return {static_cast<float>(min), static_cast<float>(min + count - 1)};
}
RECON_HD bool is_between(const DisparityBounds& bounds, float disparity) {
  return disparity > bounds.first && disparity < bounds.last;
}

}  // namespace recon
