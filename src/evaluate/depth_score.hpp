#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "scene/camera.hpp"

namespace recon {

/// Comparison of depth maps with ground truth; comparisons of several views can be added.
struct DepthComparison {
  std::int64_t known = 0;              ///< pixels with ground truth
  std::int64_t unknown = 0;            ///< pixels without
  std::int64_t estimated_unknown = 0;  ///< of the latter, those with an estimate (the sky, for instance)
  std::vector<float> errors;           ///< |z - z_true| / z_true where both are known, row by row

  DepthComparison& operator+=(const DepthComparison& other);
};

/// The scores of a comparison; shares are in [0, 1], and 0 if the denominator is 0.
struct DepthScore {
  std::int64_t known = 0;
  std::int64_t estimated = 0;               ///< of the known pixels
  double completeness = 0;                  ///< estimated / known
  std::vector<double> within_of_known;      ///< per threshold: share of ALL known pixels with such an error
  std::vector<double> within_of_estimated;  ///< per threshold: share of the estimated known pixels
  double median_error = 0;  ///< relative, over the estimated known pixels; NaN: there are none
  double mean_error = 0;
  double estimated_where_unknown = 0;  ///< share of the pixels without ground truth that have an estimate
  double estimates_on_unknown = 0;     ///< share of all estimates at pixels without ground truth
};

/// Compares a depth map with the ground truth on the same pixels. In both, a pixel is unknown when it is not
/// finite or <= 0. Sizes must be equal.
DepthComparison compare_depth(ImageView<const float> estimate, ImageView<const float> truth);

/// @param thresholds  relative errors, > 0; an error equal to the threshold is within it
DepthScore score_depth(const DepthComparison& comparison, std::span<const double> thresholds);

/// Resamples ground truth to the pixel centres of a map of another size with the same field of view, by
/// nearest neighbour.
Image<float> resample_truth(ImageView<const float> truth, int width, int height);

/// Resamples ground truth of `truth_camera` to the pixel centres of a map of `map_camera` with the same pose
/// (the undistorted photo, for instance), by nearest neighbour. The depth along the axis is unchanged. Maps
/// and truth may differ in size from their cameras. NaN outside the truth.
Image<float> resample_truth(ImageView<const float> truth, const Camera& truth_camera, int width, int height,
                            const Camera& map_camera);

}  // namespace recon
