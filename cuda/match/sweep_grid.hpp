#pragma once

#include "match/sweep_options.hpp"

namespace recon::cuda {

/// Whether there is a kernel that finds the winners without storing costs: grey SAD, the best or the mean of
/// the best two.
bool can_fuse(const SweepOptions& options, int channels);

/// Thread blocks that a launch over `rows` rows has for each range of planes.
int tile_count(int width, int rows, const SweepOptions& options);

/// The planes that one thread block should do so that the blocks of a launch keep the whole device busy to
/// the end.
/// @param blocks_per_wave  blocks that run at once
/// @param most_ranges      into how many ranges the planes may be cut, unless a block's book-keeping asks for
/// more
int planes_per_block(int tiles, int planes, int sources, int blocks_per_wave, int most_ranges);

}  // namespace recon::cuda
