#pragma once

#include "methods/backend.hpp"
#include "methods/sweep/semi_global_depth.hpp"
#include "methods/sweep/sweep_blocks.hpp"
#include "optimize/semi_global/semi_global.hpp"

namespace recon {

/// Selects the planes of a block by semi-global matching over its quantized costs. Source: H. Hirschmueller,
/// TPAMI 2008.
/// @param paths      the costs and the guide
/// @param quantized  quantized(x, y, plane): the cost of a sample
/// @param store      store(x, y, plane, depth): receives the result of a pixel; plane is -1 where no source
///                   sees it. Called concurrently.
template <class Quantized, class Store>
void follow_paths(const SweepProblem& problem, SemiGlobalProblem paths, const Quantized& quantized,
                  const Store& store) {
  const float cap = cost_cap(problem.options.cost);
  paths.max_cost = kInvalidQuantizedCost;
  paths.planes = problem.planes.count;
  paths.options = problem.paths.penalties;
  semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
    for (int x = 0; x < paths.guide.width; ++x) {
      const int plane = winners[x].plane;
      const std::uint8_t cost = quantized(x, y, plane);
      store(x, y, cost < kInvalidQuantizedCost ? plane : -1,
            semi_global_depth(winners[x], cost, cap, problem.planes));
    }
  });
}

/// Runs the stages after aggregation on a block whose costs are stored: the optimizer and, if enabled, the
/// graph cut and the adjustment of edges. After a graph cut, sub-plane depths come from the parabola through
/// the costs, and the confidence is the uniqueness of the label's energy, given the labels of the neighbours.
/// Runs on the threads of the surrounding task arena.
/// @param problem    defines the stages and the planes
/// @param reference  the problem's reference, cropped to the block
/// @param costs      (y, d, x) of the block; +infinity: no cost
/// @throws OutOfMemory
DepthEstimate optimized_block(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs);

/// Bytes that optimized_block uses, including its result, excluding the costs.
/// @param block  size of the block
std::size_t optimized_block_bytes(const SweepShape& shape, const Tile& block, int threads);

}  // namespace recon
