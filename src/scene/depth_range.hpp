#pragma once

#include <optional>
#include <vector>

#include "scene/pinhole.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Depths (z in the view, scene units, 0 < near < far) between which the planes of a view lie.
struct DepthRange {
  double near = 0;
  double far = 0;
};

/// The range of a view of which nothing is known: no points and no source at a distance. It cannot be swept
/// anyway.
inline constexpr DepthRange kUnknownDepthRange{1, 100};

struct DepthRangeOptions {
  std::optional<double> near, far;  ///< given by the user: they win over everything
};

/// The depth range of each view: from the sparse points seen by it (1 and 99 % quantiles, widened), where it
/// sees too few of them from all points in front of it, and without points from the geometry of the cameras
/// and `sources`.
/// @param sources  per view, indices of its source views (see select_sources)
/// @throws UsageError when a given bound is not above 0, or the near one is not below the far one
std::vector<DepthRange> depth_ranges(const Scene& scene, const std::vector<std::vector<int>>& sources,
                                     const DepthRangeOptions& options);

}  // namespace recon
