#pragma once

#include "methods/backend.hpp"

namespace recon {

/// Sweeps a view on the CPU, block by block (see blocks_of): the costs of a block are stored as its stages
/// need them (see CostStorage) and aggregated, guided by the colours of the reference view, or by its grey
/// levels if it has one channel; then the optimizer runs, and the stages after it. Without aggregation, graph
/// cut and edges the result does not depend on how costs are stored, except for the size of the blocks. Runs
/// on the threads of the surrounding task arena; deterministic. Sources: E. Achten 2025; semi-global matching
/// over a sweep: C. Haene et al., 3DV 2014.
/// @throws OutOfMemory
DepthEstimate sweep_view(const SweepProblem& problem);

/// Max bytes that sweep_view uses, including its result, excluding the images of the caller.
std::size_t sweep_view_bytes(const SweepShape& shape, int threads);

}  // namespace recon
