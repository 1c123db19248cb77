#include "evaluate/cloud_score.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "evaluate/point_grid.hpp"
#include "evaluate/statistics.hpp"

namespace recon {
namespace {

/// Share of the queries with a point within the threshold, and a summary of their distances.
double compare(const std::vector<Vec3d>& queries, const std::vector<Vec3d>& points, double threshold,
               DistanceSummary& summary) {
  std::vector<double> distances = PointGrid(points, threshold).nearest_distances(queries);
  const auto near =
      std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= threshold; });
  summary.median = median(distances);
  for (double& distance : distances) distance = std::min(distance, threshold);
  summary.mean = mean(distances);
  return share(near, distances.size());
}

}  // namespace

CloudScore score_cloud(std::span<const Vec3d> estimate, std::span<const Vec3d> reference, double threshold,
                       double voxel) {
  EXPECTS(threshold > 0 && voxel > 0);
  const std::vector<Vec3d> thin_estimate = thin(estimate, voxel);
  const std::vector<Vec3d> thin_reference = thin(reference, voxel);
  CloudScore score;
  score.threshold = threshold;
  score.voxel = voxel;
  score.estimate_points = thin_estimate.size();
  score.reference_points = thin_reference.size();
  score.precision = compare(thin_estimate, thin_reference, threshold, score.estimate_distance);
  score.recall = compare(thin_reference, thin_estimate, threshold, score.reference_distance);
  score.f1 = share(2 * score.precision * score.recall, score.precision + score.recall);
  return score;
}

}  // namespace recon
