#include "evaluate/disparity_score.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "evaluate/statistics.hpp"

namespace recon {

DisparityScore score_disparity(ImageView<const float> estimate, ImageView<const float> truth,
                               ImageView<const std::uint8_t> mask, std::span<const double> thresholds) {
  EXPECTS(estimate.width == truth.width && estimate.height == truth.height);
  EXPECTS(mask.empty() || (mask.width == truth.width && mask.height == truth.height));
  DisparityScore score;
  std::vector<double> errors, squares;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      if (!std::isfinite(truth(x, y)) || (!mask.empty() && mask(x, y) != 255)) continue;
      ++score.known;
      if (!std::isfinite(estimate(x, y))) continue;
      const double error = std::abs(static_cast<double>(estimate(x, y)) - truth(x, y));
      errors.push_back(error);
      squares.push_back(error * error);
    }
  score.estimated = std::ssize(errors);
  score.completeness = share(score.estimated, score.known);
  for (const double threshold : thresholds) {
    const auto bad = std::ranges::count_if(errors, [&](double error) { return error > threshold; });
    score.bad_of_known.push_back(share(bad + score.known - score.estimated, score.known));
    score.bad_of_estimated.push_back(share(bad, score.estimated));
  }
  score.average_error = mean(errors);
  score.rms_error = std::sqrt(mean(squares));
  return score;
}

}  // namespace recon
