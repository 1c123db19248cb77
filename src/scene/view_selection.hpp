#pragma once

#include <vector>

#include "scene/depth_range.hpp"
#include "scene/sparse_index.hpp"

namespace recon {

struct ViewSelectionOptions {
  int max_sources = 12;             ///< source views per reference view
  double min_angle_degrees = 1.0;   ///< triangulation angle below which a source does not constrain the depth
  double max_angle_degrees = 60.0;  ///< above it, surfaces look too different to match
};

/// The best source views of every reference view, best first, as indices into the views of the scene; ties by
/// lowest index. The first ones together show all parts of its image, see covering_sources. With sparse
/// points: by shared points, weighted by triangulation angle and resolution; a source must share points and
/// its 75th percentile angle must reach min_angle. Without points: from the geometry of the cameras alone
/// (baseline, viewing directions, overlap of the frusta). The list is empty if a view has no usable source.
std::vector<std::vector<int>> select_sources(const SceneIndex& index, const ViewSelectionOptions& options);

/// For each view the `count` others that see most of what it sees at its expected depths, and at least a
/// tenth of it, best first.
std::vector<std::vector<int>> overlapping_views(const SceneIndex& index,
                                                const std::vector<DepthRange>& expected, int count);

}  // namespace recon
