#pragma once

#include "core/hd.hpp"

namespace recon {

/// Which view of a rectified pair a volume belongs to.
enum class PairSide { kLeft, kRight };

/// Column of the other view that matches column `x` of this view at a disparity: x_right = x_left -
/// disparity.
RECON_HD int matching_column(PairSide side, int x, int disparity) {
  return side == PairSide::kLeft ? x - disparity : x + disparity;
}

}  // namespace recon
