#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "match/truncated_difference_step.hpp"

namespace recon {

/// Truncated differences of a rectified pair, row by row; see TruncatedDifference.
class TruncatedDifferenceRows {
 public:
  /// Two grey images of the same size. @param min_disparity  of index 0
  TruncatedDifferenceRows(ImageView<const float> left, ImageView<const float> right, TruncatedDifference cost,
                          int min_disparity);

  /// Stores the costs of the pixels x = 2 (first + i) + x_parity, 0 <= i < count, of row y at disparity
  /// `min_disparity + d` in costs[i].
  void row(int y, int x_parity, int first, int count, int d, float* costs) const;

 private:
  Image<float> left_[2], right_[2];  ///< columns of even and of odd x
  TruncatedDifference cost_;
  int min_disparity_;
};

}  // namespace recon
