#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "optimize/patch_match/supported_planes_step.hpp"

namespace recon {

/// A source of a reference view.
struct WarpedImage {
  SourceWarp warp;
  ImageView<const std::uint8_t> image;  ///< grey
};

/// Fills areas of weak texture: a pixel whose plane is expensive, or unlike those around, gets a plane
/// through the nearest reliable pixels in three of eight directions, if it passes near at least six of the
/// eight. A connected area of such pixels is left as it is if the photos contradict its planes in more than a
/// tenth of it; this rejects the plane of a wall in front of which a textureless object stands. Pixels whose
/// plane is confirmed within kMaxSupportSteps in neither of two opposite directions belong to an area, but
/// stay as they are: a strip of sky between two columns, and the middle of what is wider than twice that.
/// What is filled has the cost kSupportedCost. Deterministic for any number of threads.
///
/// Sources: Q. Xu, W. Tao, Planar prior assisted PatchMatch multi-view stereo, AAAI 2020 (planes through
/// reliable pixels); M. A. Fischler, R. C. Bolles, Random sample consensus, CACM 1981 (support of a plane).
/// @param states     of the reference's pixels
/// @param reference  grey
/// @param sources    best first, 1..kMaxSources
/// @param range      of the inverse depths
/// @throws OutOfMemory
void fill_supported_planes(ImageView<PatchState> states, ImageView<const std::uint8_t> reference,
                           const std::vector<WarpedImage>& sources, const InverseRange& range);

}  // namespace recon
