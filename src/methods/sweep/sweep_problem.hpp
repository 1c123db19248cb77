#pragma once

#include <limits>
#include <vector>

#include "core/image.hpp"
#include "match/posed_image.hpp"
#include "match/warp_step.hpp"
#include "methods/method_spec.hpp"

namespace recon {

/// A reference view and its sources at one size.
struct SweepImages {
  PosedImage reference;
  std::vector<PosedImage> sources;  ///< 1 .. kMaxSources
};

/// One reference view to sweep: all images have the same number of channels (1 or 3; ZNCC and patches: 1).
struct SweepProblem : MethodSpec, SweepImages {
  PlaneSet planes;                   ///< of the coarsest level, if patches are refined
  std::vector<SweepImages> coarser;  ///< for patches: images halved once, twice, ...
  InverseRange bounds = {0, std::numeric_limits<float>::max()};  ///< exact ones
  ImageView<const Rgb8> colours = {};  ///< of the reference, for edges of patches; empty: its channel serves
};

/// Result of a sweep per pixel of the reference; depth is NaN where no source sees it.
struct DepthEstimate {
  Image<float> depth;       ///< z, scene units, with sub-plane interpolation by a parabola
  Image<float> cost;        ///< cost of the winner, in the unit of the cost
  Image<float> confidence;  ///< uniqueness of the winner, for patches 1 - cost, [0, 1]
};

inline DepthEstimate uninitialised_estimate(int width, int height) {
  return {Image<float>(width, height), Image<float>(width, height), Image<float>(width, height)};
}

/// What determines the memory and time of a sweep: its stages and sizes.
struct SweepShape : MethodSpec {
  int width = 0, height = 0;                ///< of the reference
  int source_width = 0, source_height = 0;  ///< of the largest source
  int channels = 1;
  int sources = 0;
  int planes = 0;
};

/// The shape of a problem, whose images may lack their pixels.
SweepShape sweep_shape(const SweepProblem& problem);

}  // namespace recon
