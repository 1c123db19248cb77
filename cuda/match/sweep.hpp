#pragma once

#include <cuda_runtime_api.h>

#include "cuda/match/sweep_args.hpp"
#include "match/sweep_options.hpp"

namespace recon::cuda {

/// Launches the sweep of `args` on `stream`: costs into `args.volume`, or, if `args.volume` is null, winners
/// into `args.winners` (only if `can_fuse`).
/// @throws DeviceError
void launch_sweep(const SweepArgs& args, const SweepOptions& options, int channels, cudaStream_t stream);

/// Packs rows of bytes into quads (SourceStorage::kQuads): `quads` has height rows of `quad_pitch` elements.
void launch_quads(const std::uint8_t* pixels, int pixel_pitch, int width, int height, std::uint32_t* quads,
                  int quad_pitch, cudaStream_t stream);

/// Thread blocks of the cost-storing sweep kernel that are resident on the current device. @throws
/// DeviceError
int blocks_per_wave(const SweepOptions& options, int channels);

}  // namespace recon::cuda
