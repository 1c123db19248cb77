#pragma once

#include <optional>
#include <vector>

#include "scene/pinhole.hpp"
#include "scene/sparse_index.hpp"

namespace recon {

/// Depths (z in the view, scene units, 0 < near < far) between which the planes of a view lie.
struct DepthRange {
  double near = 0;
  double far = 0;
};

/// The range of a view without points and without a baseline to any source, which cannot be swept.
inline constexpr DepthRange kUnknownDepthRange{1, 100};

struct DepthRangeOptions {
  std::optional<double> near, far;  ///< given by the user; take precedence over estimates
};

/// The depth range of each view: from the sparse points it observes (1 and 99 % quantiles, widened); if these
/// are too few, from all points in its image; without points, from the geometry of the cameras and `sources`.
/// @param sources  per view, indices of its source views (see select_sources)
/// @throws std::logic_error when a given bound is not finite and > 0, or near >= far
std::vector<DepthRange> depth_ranges(const SceneIndex& index, const std::vector<std::vector<int>>& sources,
                                     const DepthRangeOptions& options);

}  // namespace recon
