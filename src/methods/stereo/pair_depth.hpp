#pragma once

#include <functional>
#include <vector>

#include "methods/presets.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/rectification.hpp"

namespace recon {

struct DisparityMap;
struct PairProblem;

/// Backend::match, or where memory is counted what takes as much.
using PairMatcher = std::function<DisparityMap(const PairProblem&)>;

/// A source of a reference view, and their rectification.
struct PairSource {
  PosedImage image;  ///< grey, or colour for a pipeline
  RectifiedPair pair;
};

/// Options of a method for rectified pairs applied to a view of a scene.
struct PairDepthOptions {
  MethodSpec matching = presets::semi_global();
  /// Max relative difference of depths from two sources on the same surface.
  float max_relative_depth = 0.01f;
  int speckle_size = 20;  ///< connected patches of fewer pixels are dropped; 0: keep all
  bool median = true;     ///< 3 x 3 median of the known depths
};

/// Size limits of the rectified pairs of a method, independent of the photos' size: they limit the costs of
/// semi-global and block matching and of a pipeline (float volumes) to gigabytes, and belief propagation, the
/// slowest, to a few seconds per pair on a CPU.
RectifyLimits pair_limits(const MethodSpec& method);

/// Merged depth per pixel, and the share of maps that agree on it.
struct MergedDepth {
  Image<float> depth;       ///< NaN where no two sources agree, unless there is only one depth
  Image<float> confidence;  ///< share of `maps` that agree, [0, 1]
};

/// Computes for each pixel the mean in inverse depth of the largest set of agreeing depths; ties go to the
/// earlier map. A depth known in only one map is kept; a depth contradicted by the others is dropped.
/// @param maps     of the same size, 1 .. kMaxSources, best source first; NaN = unknown
/// @param weights  weight of each map in the mean, > 0
MergedDepth merge_depths(const std::vector<Image<float>>& maps, const std::vector<float>& weights,
                         float max_relative_depth);

/// The depth (z, scene units) of each pixel of a reference view from its sources, best first, 1 ..
/// kMaxSources; without normals. With each source the view is rectified and matched, and each pixel takes the
/// disparity at its projection into the left image, interpolated between pixels that agree within 1: NaN
/// where the disparity is unknown, or where the point projects outside the source's image. See merge_depths.
/// @param mask  see finish_view
/// @throws what `match` throws
ViewDepth estimate_view_from_pairs(const PairMatcher& match, const PosedImage& reference,
                                   const std::vector<PairSource>& sources, const PairDepthOptions& options,
                                   ImageView<const std::uint8_t> mask = {});

}  // namespace recon
