#pragma once

#include <cstddef>
#include <vector>

#include "methods/backend.hpp"
#include "methods/sweep/view_depth.hpp"
#include "scene/rectification.hpp"

namespace recon {

/// A source of a reference view, and how both are rectified.
struct PairSource {
  PosedImage image;  ///< grey, or in colour for a pipeline
  RectifiedPair pair;
};

/// A pipeline for rectified pairs as it works on a view of a scene.
struct PairDepthOptions {
  PairOptions matching;  ///< the range is set for each pair
  /// Depths of two sources that differ by less belong to one surface; relative.
  float max_relative_depth = 0.01f;
  int speckle_size = 20;  ///< connected patches of fewer pixels are dropped; 0: keep all
  bool median = true;     ///< 3 x 3 median of the known depths
};

/// How large the pairs of a method may become, whatever the photos' size: so that the costs of semi-global
/// and block matching and of a pipeline, whose volumes are floats, stay within gigabytes, and the messages of
/// belief propagation, which take most time, within a few seconds a pair on a CPU.
RectifyLimits pair_limits(PairMethod method);

/// The depth (z, scene units) of each pixel of the reference from one source: both are rectified and matched,
/// and each pixel takes the disparity of its place in the left image, between the pixels there that agree
/// within 1. NaN where there is none, or where the point would lie outside the source's image.
Image<float> depth_from_pair(Backend& backend, const PosedImage& reference, const PairSource& source,
                             const PairOptions& matching);

/// A depth for each pixel, and how many agree on it.
struct MergedDepth {
  Image<float> depth;       ///< NaN where no two sources agree, unless there is only one
  Image<float> confidence;  ///< share of `maps` that agree, [0, 1]
};

/// Takes for each pixel the depths that most others agree with, and of these the mean in inverse depth; ties
/// go to the earlier map. A depth that only one map has is kept; one that the others contradict is not.
/// @param maps     of one size, 1 .. kMaxSources, best source first; NaN = unknown
/// @param weights  of each map in the mean, > 0
MergedDepth merge_depths(const std::vector<Image<float>>& maps, const std::vector<float>& weights,
                         float max_relative_depth);

/// The depth of a reference view from rectified pairs with its sources, best first, 1 .. kMaxSources.
/// @throws OutOfMemory, DeviceError
ViewDepth estimate_view_from_pairs(Backend& backend, const PosedImage& reference,
                                   const std::vector<PairSource>& sources, const PairDepthOptions& options);

/// Bytes of host memory that `estimate_view_from_pairs` takes at most for a view with `pairs` pairs like
/// `pair` of images of 1 or 3 channels, beside those of `Backend::match`; the result is counted, the photos
/// are not.
std::size_t pair_depth_bytes(const Pinhole& reference, const RectifiedPair& pair, int pairs, int channels);

}  // namespace recon
