#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/image.hpp"
#include "match/cpu_sweep.hpp"
#include "optimize/patch_match/patch_match_step.hpp"

namespace recon {

/// A reference view and its sources at one size.
struct PatchLevel {
  struct Source {
    SourceWarp warp;
    SampledImage image;
  };
  ImageView<const std::uint8_t> reference;  ///< grey; sides 1..kMaxImageSide, those of the sources too
  std::vector<Source> sources;              ///< 1..kMaxSources
  AlignedBuffer<std::uint16_t> pixels{};  ///< of all sources, if they are in one piece: then they are faster
};

/// Estimates a slanted plane for every pixel of the finest level: the first planes come from a depth map of
/// the coarsest level, and every level improves them by propagation and perturbation. Deterministic: the same
/// bits on every processor, for any number of threads. Source: see patch_match_step.hpp.
/// @param levels  number of levels; each has twice the size of the one before, rounded up or down
/// @param level   the level of an index, 0 = coarsest; asked once for each in this order, so that only one
///                has to be in memory
/// @param depth   of the coarsest level, NaN = unknown
/// @param range   of the inverse depths
/// @param smooth  whether in the finest level an iteration ends with the planes that pixels agree on, see
///                agreed_plane
/// @returns width x height states of the finest level
Image<PatchState> patch_match(int levels, const std::function<const PatchLevel&(int)>& level,
                              ImageView<const float> depth, const InverseRange& range,
                              const PatchMatchOptions& options, bool smooth);

}  // namespace recon
