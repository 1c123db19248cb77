#pragma once

#include "match/sweep_options.hpp"

namespace recon::cuda {

/// Whether a kernel finds the winners without storing costs: grey SAD, the best or the mean of the best two.
bool can_fuse(const SweepOptions& options, int channels);

/// Thread blocks per range of planes of a launch over `rows` rows.
int tile_count(int width, int rows, const SweepOptions& options);

/// The number of planes per thread block that keeps the whole device busy to the end of a launch.
/// @param blocks_per_wave  resident thread blocks
/// @param most_ranges      max number of ranges of planes, unless kMaxSteps requires more
int planes_per_block(int tiles, int planes, int sources, int blocks_per_wave, int most_ranges);

}  // namespace recon::cuda
