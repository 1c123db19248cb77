#pragma once

#include "methods/backend.hpp"
#include "methods/sweep/view_depth.hpp"

namespace recon {

/// Filters of a sweep's depths before the consistency check across views.
struct PhotometricFilterOptions {
  float max_cost = 0.6f;         ///< unit of the cost: [0, 2] for ZNCC, grey levels for SAD
  float min_confidence = 0.05f;  ///< uniqueness, [0, 1]
  float min_texture = 1.5f;      ///< min standard deviation of the reference window, grey levels
  int speckle_size = 20;         ///< connected patches of fewer pixels are dropped; 0: keep all
  bool median = true;            ///< 3 x 3 median of the known depths
};

/// Sweeps one view with `backend` and applies the photometric filters.
ViewDepth estimate_view(Backend& backend, const SweepProblem& problem,
                        const PhotometricFilterOptions& filter);

/// The number of planes between `near` and `far` for which neighbouring planes are at most one pixel apart in
/// the source that moves fastest, measured over the pixels of the reference that the source sees; at least 2,
/// at most kMaxPlanes.
int auto_plane_count(const PosedImage& reference, const std::vector<PosedImage>& sources, double near,
                     double far);

}  // namespace recon
