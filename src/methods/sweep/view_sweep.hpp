#pragma once

#include <cstddef>
#include <cstdint>

#include "methods/sweep/depth_step.hpp"
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

/// Max bytes that sweep_view uses, including its result, excluding the images of the caller.
std::size_t sweep_view_bytes(const SweepShape& shape, int threads);

/// Selects the planes of a block by semi-global matching over its quantized costs. Source: H. Hirschmueller,
/// TPAMI 2008.
/// @param paths      the costs and the guide
/// @param quantized  quantized(x, y, plane): the cost of a sample
/// @param store      store(x, y, plane, depth): receives the result of a pixel; plane is -1 where no source
///                   sees it. Called concurrently.
template <class Quantized, class Store>
void follow_paths(const SweepProblem& problem, SemiGlobalProblem paths, const Quantized& quantized,
                  const Store& store) {
  const float cap = cost_cap(problem.cost.kind);
  paths.max_cost = kInvalidQuantizedCost;
  paths.planes = problem.planes.count;
  paths.options = problem.semi_global;
  semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
    for (int x = 0; x < paths.guide.width; ++x) {
      const int plane = winners[x].plane;
      const std::uint8_t cost = quantized(x, y, plane);
      store(x, y, cost < kInvalidQuantizedCost ? plane : -1,
            semi_global_depth(winners[x], cost, cap, problem.planes));
    }
  });
}

}  // namespace recon
