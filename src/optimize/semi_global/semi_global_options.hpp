#pragma once

namespace recon {

/// Semi-global matching; costs and penalties have the same unit.
struct SemiGlobalOptions {
  int paths = 8;  ///< 4 (along rows and columns) or 8 (and the diagonals)
  int p1 = 12;    ///< penalty of a step of one disparity, >= 0
  /// Penalty of a larger step where the image is flat, >= p1. Up to 63, the sums of L - C of one pass fit a
  /// byte, which makes the optimizer faster on the CPU.
  int p2 = 63;
  /// Grey-level difference scale of the falloff of P2; 0: constant P2. At most 65535.
  int p2_falloff = 16;
};

/// Max path cost, costs plus penalties: the sum of 8 fits 16 bits.
inline constexpr int kMaxPathCost = 8191;

}  // namespace recon
