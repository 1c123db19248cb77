#pragma once

#include <cstddef>

#include "core/volume.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon {

/// Runs the stages after aggregation on a block whose costs are stored: the optimizer and, if enabled, the
/// graph cut and the adjustment of edges. After a graph cut, sub-plane depths come from the parabola through
/// the costs, and the confidence is the uniqueness of the label's energy, given the labels of the neighbours.
/// Runs on the threads of the surrounding task arena.
/// @param problem     defines the stages and the planes
/// @param costs       (y, d, x) of the block; +infinity: no cost
/// @param[out] view   gets the results of the block's inner pixels
/// @throws OutOfMemory
void optimize_block(const SweepProblem& problem, const SweepBlock& block, Volume<float> costs,
                    DepthEstimate& view);

/// Bytes that optimize_block uses, excluding the costs.
/// @param block  size of the block
std::size_t optimize_block_bytes(const SweepShape& shape, const Tile& block, int threads);

}  // namespace recon
