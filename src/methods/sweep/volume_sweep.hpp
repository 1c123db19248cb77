#pragma once

#include "methods/backend.hpp"
#include "methods/sweep/sweep_blocks.hpp"

namespace recon {

/// Sweeps a view and keeps the costs, so that stages which need all of them at once can work: aggregation
/// steered by the reference view (its colours where it has three channels, else its greys), any optimizer of
/// a sweep, the graph cut, as optimizer or after another, and the adjustment of edges. Block by block (see
/// volume_blocks), on the threads of the surrounding task arena. After a graph cut depths lie between planes
/// by the parabola through the costs, and the confidence is the uniqueness of the label's energy among those
/// that the pixel's labels have beside its neighbours'. Without aggregation, graph cut and edges the result
/// is that of the pipeline that stores nothing, but for the size of the blocks. Source of the pipeline: E.
/// Achten 2025.
/// @throws OutOfMemory
DepthEstimate volume_sweep(const SweepProblem& problem);

/// Bytes that it takes beside the sources, the result and the tiles of the sweep.
std::size_t volume_sweep_bytes(const SweepShape& shape, int threads);

/// What it makes of the aggregated costs of a block: the optimizer, the graph cut and the edges, those that
/// are asked for.
/// @param problem    says the stages and the planes
/// @param reference  the problem's, cropped to the block
/// @param costs      (y, d, x) of the block, or +infinity
/// @throws OutOfMemory
DepthEstimate optimized_block(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs);

/// Puts what a block's inner pixels have in their place in the view.
void keep_inner(const SweepBlock& block, const DepthEstimate& from, DepthEstimate& to);

/// Bytes that optimized_block takes beside the costs, its result included.
/// @param block  its size
std::size_t optimized_block_bytes(const SweepShape& shape, const Tile& block, int threads);

}  // namespace recon
