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

/// Where the surfaces of a view are expected.
struct ExpectedRange : DepthRange {
  bool from_points = false;  ///< else from the geometry of the cameras, a guess
};

struct DepthRangeOptions {
  std::optional<double> near, far;  ///< exact bounds that the user gives
};

/// The expected range of each view: from the sparse points it observes (1 and 99 % quantiles of those that
/// others nearby support, widened); if these are too few, from all points in its image; without points, from
/// the geometry of the cameras and `sources`.
/// @param sources  per view, indices of its source views (see select_sources)
std::vector<ExpectedRange> expected_ranges(const SceneIndex& index,
                                           const std::vector<std::vector<int>>& sources);

/// All depths at which a view and its sources may see surfaces: from half of the nearest expected depth, or
/// where the sources begin to see what the view sees, to where the parallax vanishes.
/// @param expected  see expected_ranges; it lies within the result
DepthRange search_range(const SceneIndex& index, int view, const std::vector<int>& sources,
                        const DepthRange& expected);

/// The range within the user's bounds, which take precedence: one that the range contradicts moves its other
/// end.
/// @throws std::logic_error when a bound is not finite and > 0, or near >= far
DepthRange bounded(DepthRange range, const DepthRangeOptions& bounds);

/// The same of an expected range, within what is searched.
/// @param searched  the depths to search within the same bounds
ExpectedRange bounded(const ExpectedRange& expected, const DepthRangeOptions& bounds,
                      const DepthRange& searched);

}  // namespace recon
