#pragma once

#include "core/volume.hpp"
#include "methods/sweep/depth_step.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/sweep_problem.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// Sweeps a view on the CPU, block by block (see blocks_of): the costs of a block are stored as its stages
/// need them (see CostStorage) and aggregated, guided by the colours of the reference view, or by its grey
/// levels if it has one channel; then the optimizer runs, and the stages after it. Without aggregation, graph
/// cut and edges the result does not depend on how costs are stored, except for the size of the blocks. Runs
/// on the threads of the surrounding task arena; deterministic. Sources: E. Achten 2025; semi-global matching
/// over a sweep: C. Haene et al., 3DV 2014.
/// @throws OutOfMemory
DepthEstimate sweep_view(const SweepProblem& problem);

/// A problem of a shape, without pixels: the memory of the work on it can be counted, see CountedMemory.
SweepProblem sized_problem(const SweepShape& shape);

/// Runs the stages from the optimizer on over a block whose aggregated costs are stored, see SweepStages.
/// @param costs       (y, d, x) of the block; +infinity: no cost
/// @param[out] view   gets the results of the block's inner pixels; may be empty if the block is the whole
/// view
/// @throws OutOfMemory
void optimize_block(const SweepProblem& problem, const SweepBlock& block, Volume<float> costs,
                    DepthEstimate& view);

}  // namespace recon
