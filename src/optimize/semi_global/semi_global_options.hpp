#pragma once

namespace recon {

/// Semi-global matching; costs and penalties share one unit.
struct SemiGlobalOptions {
  int paths = 8;  ///< 4 (along rows and columns) or 8 (and the diagonals)
  int p1 = 12;    ///< for a step of one disparity, >= 0
  /// For a larger step where the image is flat, >= p1. What the paths of one pass over the image add to the
  /// costs fits a byte up to 63, which makes the optimizer faster on the CPU.
  int p2 = 63;
  /// Grey levels between the two pixels of a step over which P2 falls off; 0: P2 is the same everywhere. At
  /// most 65535.
  int p2_falloff = 16;
};

/// The largest sum of costs and penalties that path costs may reach: 8 of them fit 16 bits.
inline constexpr int kMaxPathCost = 8191;

}  // namespace recon
