#pragma once

#include <span>
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

/// How well a source shows a sample, which is a place in the image of a reference view.
struct SampleScore {
  int sample;   ///< index
  float score;  ///< 0 or more; 1 is as well as a source can
};

/// The score above which what a sample has counts more than what it lacks: a low one, as a pixel is matched
/// in two sources at a time.
inline constexpr double kHalfShown = 0.3;

/// Orders sources so that the first ones together show all of the reference view: each next one adds most to
/// what those before it show, where a sample counts the less, the better it is shown already: by
/// weight * score / (kHalfShown + sum of the scores before). Ties by lowest index.
/// @param sources  what each of them shows
/// @param weights  of each sample
/// @param count    max number of sources
/// @return indices into `sources`
/// Sources: greedy choice of a submodular cover: G. Nemhauser, L. Wolsey, M. Fisher, An analysis of
/// approximations for maximizing submodular set functions, Mathematical Programming 1978; evaluation of the
/// most promising ones only: M. Minoux, Accelerated greedy algorithms, 1978.
std::vector<int> covering_sources(std::span<const std::vector<SampleScore>> sources,
                                  std::span<const double> weights, int count);

}  // namespace recon
