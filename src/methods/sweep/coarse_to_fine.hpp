#pragma once

#include "methods/backend.hpp"

namespace recon {

/// Coarse to fine: the coarsest images are swept, and slanted patches refine the result level by level, so
/// that the samples of a pixel do not depend on the depth range. Sources: M. Bleyer et al., BMVC 2011; Q. Xu,
/// W. Tao, CVPR 2019.

/// Sets `coarser` of a problem with patches; returns the pixels.
std::vector<Image<std::uint8_t>> halve_images(SweepProblem& problem);

/// The sweep of the coarsest level of a problem with patches.
SweepProblem coarsest_sweep(const SweepProblem& problem);
/// Its shape.
SweepShape coarsest_shape(const SweepShape& shape);

/// The inverse depths of patches: those of the planes and somewhat more.
InverseRange patch_range(const PlaneSet& planes);

/// Refines the depths of the coarsest level on the CPU, on the threads of the surrounding task arena.
/// @throws OutOfMemory
DepthEstimate refine_patches(const SweepProblem& problem, const DepthEstimate& coarsest);

/// Bytes of refine_patches with its result, without the images of the caller.
std::size_t refine_patches_bytes(const SweepShape& shape, int threads);

}  // namespace recon
