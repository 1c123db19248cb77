#pragma once

#include "core/hd.hpp"
#include "match/warp_step.hpp"

namespace recon {

/// The disparities searched: min <= d < min + count, with x_right = x_left - d; min may be negative, and
/// count may exceed the image width.
struct DisparityRange {
  int min = 0;
  int count = 0;
};

inline constexpr int kMaxDisparities = 4096;   ///< max number of disparities searched
inline constexpr int kMaxDisparity = 1 << 20;  ///< max absolute value of the min disparity

/// What the labels 0 .. count - 1 of a cost volume stand for: planes in front of a view, or the disparities
/// of a rectified pair.
struct Hypotheses {
  RECON_HD Hypotheses(const PlaneSet& of_view) : planes(of_view), min(0), depths(true) {}
  RECON_HD Hypotheses(const DisparityRange& range)
      : planes{0, 1, range.count}, min(range.min), depths(false) {}

  RECON_HD int count() const { return planes.count; }

  /// The depth (scene units) or disparity (pixels) of a label.
  /// @param offset  from the label, for values between two of them
  RECON_HD float value(int label, float offset = 0.0f) const {
    if (depths) return 1.0f / inverse_depth(planes, static_cast<float>(label) + offset);
    return static_cast<float>(min + label) + offset;
  }

  PlaneSet planes;  ///< of disparities the number only
  int min;          ///< disparity of label 0
  bool depths;      ///< the values are depths, not disparities
};

}  // namespace recon
