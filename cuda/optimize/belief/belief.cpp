#include "cuda/optimize/belief/belief.hpp"

#include "core/aligned_buffer.hpp"
#include "core/half.hpp"

namespace recon::cuda {

BeliefGrids belief_grids(const BeliefShape& shape, const BeliefOptions& options) {
  const BeliefPyramid pyramid = belief_pyramid(shape, options, options.levels);
  BeliefGrids grids;
  std::ptrdiff_t end = 0;
  const auto take = [&](std::ptrdiff_t elements) {
    const std::ptrdiff_t begin = end;
    end += elements;
    return begin;
  };
  const int strip = kBeliefGroup * shape.disparities;
  take(strip);
  for (const BeliefLevel& level : pyramid.levels) {
    BeliefGrid grid;
    grid.width = level.width;
    grid.height = level.height;
    grid.groups = ((level.width + 1) / 2 + kBeliefGroup - 1) / kBeliefGroup;
    grid.strip = strip;
    // An upper bound of all following sizes: ten arrays of 4 bytes.
    element_count({strip, grid.groups, level.height, 2, 40, 2});
    grid.costs = take(grid.size());
    for (std::ptrdiff_t& message : grid.messages) message = take(grid.size());
    grids.levels.push_back(grid);
  }
  take(std::ptrdiff_t{16} * kBeliefGroup);  // reads of sixteen disparities may end here
  grids.bytes = element_count({end}) * pyramid.element_bytes;
  return grids;
}

void launch_belief(const BeliefArgs& args, BeliefStorage storage, cudaStream_t stream) {
  switch (storage) {
    case BeliefStorage::kHalf:
      return launch_belief_stored_as<Half>(args, stream);
    case BeliefStorage::kBfloat16:
      return launch_belief_stored_as<Bfloat16>(args, stream);
    default:
      return launch_belief_stored_as<float>(args, stream);
  }
}

}  // namespace recon::cuda
