#include "cuda/testing/cuda_block.hpp"

#include "cuda/methods/stereo/block_matching.hpp"
#include "cuda/methods/stereo/block_stream.hpp"
#include "cuda/testing/measure.hpp"

namespace recon::cuda {

BlockRun run_block_matching(const PairProblem& problem, std::uint8_t poison, int device) {
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  BlockRun run;
  run.planned_bytes =
      block_matching_bytes(problem.images.left.width, problem.images.left.height, problem.options);
  workspace.arena.reset(run.planned_bytes);
  RECON_CUDA_TRY(cudaMemsetAsync(workspace.arena.take<std::uint8_t>(run.planned_bytes), poison,
                                 run.planned_bytes, workspace.stream.get()));
  run.map = block_matching(problem, workspace);
  run.arena_bytes = workspace.arena.capacity();
  return run;
}

BlockTimes time_block_matching(const PairProblem& problem, int tile_width, int strip_rows, int repeats,
                               int device) {
  EXPECTS(repeats >= 1);
  BlockTimes times;
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  const BlockTiling tiling{tile_width, strip_rows};
  const BlockStream lane(problem.images.left.width, problem.images.left.height, problem.options,
                         workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  lane.upload(problem.images, workspace.staging, workspace.stream);
  times.whole = time_events(workspace.stream, repeats, [&] { lane.queue(workspace.stream, tiling); });
  times.search = time_events(workspace.stream, repeats, [&] { lane.queue_search(workspace.stream, tiling); });
  times.call = time_whole(repeats, [&] { block_matching(problem, workspace); });
  return times;
}

}  // namespace recon::cuda
