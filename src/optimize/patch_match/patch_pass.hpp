#pragma once

#include <algorithm>

#include "core/image.hpp"
#include "match/patch.hpp"
#include "optimize/patch_match/patch_match.hpp"

namespace recon {

/// What the passes over the pixels of a level share.
struct PatchPass {
  const PatchLevel* level;
  const PatchWeights* weights;
  PatchIteration iteration;
  PatchStates states, coarse;
  ImageView<const PatchSources> coarser_sources;
  ImageView<const PatchSources> sources;

  /// The sources of the pixel's neighbour in the coarser level.
  PatchSources coarse_sources(int x, int y) const {
    return coarser_sources(std::min(x / 2, coarse.width - 1), std::min(y / 2, coarse.height - 1));
  }
};

inline PatchStates patch_states(Image<PatchState>& image) {
  return {image.view().data, image.width(), image.height(), image.pitch()};
}

}  // namespace recon
