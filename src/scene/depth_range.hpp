#pragma once

#include <limits>
#include <vector>

#include "scene/pinhole.hpp"
#include "scene/sparse_index.hpp"

namespace recon {

/// Depths (z in the view, scene units, 0 < near < far) between which the planes of a view lie.
struct DepthRange {
  double near = 0;
  double far = 0;
  bool guessed = false;  ///< from the geometry of the cameras alone
};

/// Bounds of depths where the user gives none.
inline constexpr DepthRange kAnyDepth{0, std::numeric_limits<double>::infinity()};

/// The range of a view without points and without a baseline to any source, which cannot be swept.
inline constexpr DepthRange kUnknownDepthRange{1, 100, true};

/// Where the surfaces of each view are expected: from the sparse points it observes (1 and 99 % quantiles of
/// those that others nearby support, widened); if these are too few, from all points in its image; without
/// points, from the geometry of the cameras and `sources`.
/// @param sources  per view, indices of its source views (see select_sources)
std::vector<DepthRange> expected_ranges(const SceneIndex& index,
                                        const std::vector<std::vector<int>>& sources);

/// All depths at which a view and its sources may see surfaces: from half of the nearest expected depth, or
/// where the sources begin to see what the view sees, to where the parallax vanishes.
/// @param expected  see expected_ranges; it lies within the result
DepthRange search_range(const SceneIndex& index, int view, const std::vector<int>& sources,
                        const DepthRange& expected);

/// The range within the user's bounds, which take precedence: one that the range contradicts moves its other
/// end.
/// @param bounds  exact ones; kAnyDepth has none
/// @throws std::logic_error unless 0 <= near < far
DepthRange bounded(DepthRange range, const DepthRange& bounds);

/// The same of an expected range, within what is searched.
/// @param searched  the depths to search within the same bounds
DepthRange bounded(const DepthRange& expected, const DepthRange& bounds, const DepthRange& searched);

}  // namespace recon
