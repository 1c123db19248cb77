#pragma once

#include "methods/backend.hpp"
#include "methods/sweep/sweep_blocks.hpp"

namespace recon {

/// Sweeps a view with a stored cost volume, for stages that need it: aggregation guided by the reference view
/// (its colours if it has three channels, otherwise its grey levels), any optimizer of a sweep, the graph cut
/// as optimizer or after another one, and the adjustment of edges. Block by block of the view (see
/// volume_blocks), on the threads of the surrounding task arena. After a graph cut, sub-plane depths come
/// from the parabola through the costs, and the confidence is the uniqueness of the label's energy, given the
/// labels of the neighbours. Without aggregation, graph cut and edges the result is that of the fused
/// pipeline, except for the size of the blocks. Source of the pipeline: E. Achten 2025.
/// @throws OutOfMemory
DepthEstimate volume_sweep(const SweepProblem& problem);

/// Bytes that volume_sweep uses, excluding the sources, the result and the tiles of the sweep.
std::size_t volume_sweep_bytes(const SweepShape& shape, int threads);

/// Runs the stages after aggregation on a block: the optimizer and, if enabled, the graph cut and the
/// adjustment of edges.
/// @param problem    defines the stages and the planes
/// @param reference  the problem's reference, cropped to the block
/// @param costs      (y, d, x) of the block; +infinity: no cost
/// @throws OutOfMemory
DepthEstimate optimized_block(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs);

/// Copies the results of a block's inner pixels to the view.
void keep_inner(const SweepBlock& block, const DepthEstimate& from, DepthEstimate& to);

/// Bytes that optimized_block uses, including its result, excluding the costs.
/// @param block  size of the block
std::size_t optimized_block_bytes(const SweepShape& shape, const Tile& block, int threads);

}  // namespace recon
