#pragma once

#include <cstddef>
#include <span>

#include "core/vec.hpp"

namespace recon {

/// Nearest-neighbour distances from one cloud to the other, searched up to the threshold.
struct DistanceSummary {
  double mean =
      0;  ///< a point without a neighbour within the threshold counts with the threshold; NaN: no points
  double median = 0;  ///< +infinity when more than half of the points have no neighbour within the threshold;
                      ///< NaN: no points
};

/// Score of an estimated cloud against a reference at one distance threshold.
struct CloudScore {
  double threshold = 0;  ///< distance, scene units
  double voxel = 0;      ///< edge length of the voxels: both clouds have at most one point per voxel
  std::size_t estimate_points = 0;   ///< after thinning
  std::size_t reference_points = 0;  ///< after thinning
  double precision = 0;  ///< share of the estimated points with a reference point within the threshold
  double recall = 0;     ///< share of the reference points with an estimated point within the threshold
  double f1 = 0;         ///< harmonic mean of both; 0 when both are 0
  DistanceSummary estimate_distance;   ///< from the estimated points to the reference
  DistanceSummary reference_distance;  ///< from the reference points to the estimate
};

/// Precision, recall and F1 of a cloud against a reference (Knapitsch et al. 2017, equations 1 to 5, without
/// their cropping): both are thinned to one point per voxel (see `thin`), then the nearest point in the other
/// cloud is found for each point. The share of an empty cloud is 0. Points that are not finite are dropped.
/// Deterministic.
/// @param threshold  > 0, scene units
/// @param voxel      > 0, scene units; half the threshold is customary
CloudScore score_cloud(std::span<const Vec3d> estimate, std::span<const Vec3d> reference, double threshold,
                       double voxel);

}  // namespace recon
