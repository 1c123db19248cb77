#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "scene/camera.hpp"

namespace recon {

/// What comparing depth maps with ground truth yields; comparisons of several views can be added up.
struct DepthComparison {
  std::int64_t known = 0;    ///< pixels with ground truth
  std::int64_t unknown = 0;  ///< pixels without
  std::int64_t estimated_unknown =
      0;                      ///< pixels without ground truth that have an estimate (the sky, for instance)
  std::vector<float> errors;  ///< |z - z_true| / z_true where both are known, row by row

  DepthComparison& operator+=(const DepthComparison& other);
};

/// The figures of a comparison; shares are in [0, 1], and 0 where there is nothing to divide by.
struct DepthScore {
  std::int64_t known = 0;
  std::int64_t estimated = 0;  ///< of the known pixels
  double completeness = 0;     ///< estimated / known
  std::vector<double>
      within_of_known;  ///< per threshold: share of ALL known pixels with an error <= threshold
  std::vector<double> within_of_estimated;  ///< per threshold: share of the estimated known pixels
  double median_error = 0;  ///< relative, over the estimated known pixels; NaN: there are none
  double mean_error = 0;
  double estimated_where_unknown = 0;  ///< share of the pixels without ground truth that have an estimate
  double estimates_on_unknown = 0;     ///< share of all estimates that lie where the ground truth is unknown
};

/// Compares a depth map with the ground truth on the same pixels. In both, a pixel is unknown when it is not
/// finite or
/// <= 0. Sizes must be equal.
DepthComparison compare_depth(ImageView<const float> estimate, ImageView<const float> truth);

/// @param thresholds  relative errors, > 0; an error equal to the threshold is within it
DepthScore score_depth(const DepthComparison& comparison, std::span<const double> thresholds);

/// Ground truth at the pixel centres of a map of another size of the same field of view, by the nearest
/// pixel.
Image<float> resample_truth(ImageView<const float> truth, int width, int height);

/// Ground truth of the view of `truth_camera` at the pixel centres of a map made with `map_camera` at the
/// same place and orientation (the undistorted photo, for instance), by the nearest pixel. The depth along
/// the axis stays the same. Maps and truth may be smaller or larger than their cameras' frames. NaN where the
/// truth does not reach.
Image<float> resample_truth(ImageView<const float> truth, const Camera& truth_camera, int width, int height,
                            const Camera& map_camera);

}  // namespace recon
