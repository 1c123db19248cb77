#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// Scores of a disparity map against ground truth; shares are in [0, 1], and 0 if the denominator is 0.
struct DisparityScore {
  std::int64_t known = 0;                ///< pixels with ground truth, inside the mask
  std::int64_t estimated = 0;            ///< known pixels with an estimate
  double completeness = 0;               ///< estimated / known
  std::vector<double> bad_of_known;      ///< per threshold: share of the known pixels; no estimate is bad
  std::vector<double> bad_of_estimated;  ///< per threshold: share of the estimated known pixels
  double average_error = 0;  ///< |d - d_true| in pixels over the estimated known pixels; NaN: there are none
  double rms_error = 0;      ///< root mean square of the same errors
};

/// Compares a disparity map with ground truth (the bad-B measure of Scharstein and Szeliski 2002, equation
/// 2).
/// @param estimate    pixels; not finite: no estimate
/// @param truth       pixels; not finite: unknown, excluded; the same size
/// @param mask        pixels with other values than 255 are excluded; the same size, or empty: no mask
/// @param thresholds  errors in pixels, >= 0
DisparityScore score_disparity(ImageView<const float> estimate, ImageView<const float> truth,
                               ImageView<const std::uint8_t> mask, std::span<const double> thresholds);

}  // namespace recon
