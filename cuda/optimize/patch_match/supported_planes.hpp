#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/optimize/patch_match/patch_match.hpp"
#include "optimize/patch_match/supported_planes_step.hpp"

namespace recon::cuda {

/// Memory of the planar prior of a view, by (y, x) without padding.
struct SupportMemory {
  PixelKind* kinds;
  std::uint32_t* choices;  ///< see choice_of; above it the steps to the supports
  std::int32_t* parents;   ///< of connected areas as disjoint sets: a pixel of the same area, the root's own
  std::int32_t* balances;  ///< of an area, at its root
  unsigned long long* levels;  ///< sums of Levels by source, kComparedSources pairs
};

/// Fills areas of weak texture, see fill_supported_planes. @throws DeviceError
/// @param args  of the finest level
void launch_supported_planes(const PatchArgs& args, const SupportMemory& memory, cudaStream_t stream);

}  // namespace recon::cuda
