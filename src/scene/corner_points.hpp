#pragma once

#include <vector>

#include "scene/epipolar_check.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Points of the surfaces that views show, triangulated from corners that they share. A corner of a reference
/// becomes a point where the matches with at least `min_sources` views agree, which means that its image lies
/// within 1.5 pixels of their corners, and one of these views sees it at an angle of at least `min_angle`
/// degrees. Few wrong ones remain: the points are good enough to choose sources by, and to guess depths.
/// Time linear in the matches, but quadratic in those of one corner. Deterministic.
/// @param views    cameras of small images, and poses, of all views
/// @param matches  in any order
/// @return sorted by reference and by corner; tracks have the reference first, and no observations
/// Source: the two rays' nearest points: R. Hartley, P. Sturm, Triangulation, CVIU 1997, section 3
/// (mid-point)
std::vector<SparsePoint> triangulate_corners(const std::vector<CalibratedView>& views,
                                             std::vector<ViewMatch> matches, int min_sources,
                                             double min_angle);

}  // namespace recon
