#include "cuda/testing/cuda_block.hpp"

#include "cuda/methods/stereo/block_stream.hpp"
#include "cuda/testing/measure.hpp"

namespace recon::cuda {

BlockRun run_block_matching(const PairProblem& problem, std::uint8_t poison, int device) {
  use_device(device);
  PairWorkspace workspace;
  BlockRun run;
  run.planned_bytes = BlockStream::bytes(pair_shape(problem), problem.options);
  BlockStream method(pair_shape(problem), problem.options, workspace.arena);
  run.arena_bytes = workspace.arena.used();
  RECON_CUDA_TRY(
      cudaMemsetAsync(workspace.arena.base(), poison, workspace.arena.capacity(), workspace.stream.get()));
  method.upload(problem, workspace);
  method.queue(workspace);
  run.map.disparity = method.download(workspace);
  return run;
}

BlockTimes time_block_matching(const PairProblem& problem, int tile_width, int strip_rows, int repeats,
                               int device) {
  EXPECTS(repeats >= 1);
  BlockTimes times;
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  BlockStream method(pair_shape(problem), problem.options, workspace.arena, {tile_width, strip_rows});
  times.device_bytes = workspace.arena.capacity();
  method.upload(problem, workspace);
  times.whole = time_events(workspace.stream, repeats, [&] { method.queue(workspace); });
  times.search = time_events(workspace.stream, repeats, [&] { method.queue_search(workspace); });
  times.call = time_whole(repeats, [&] { match_pair(problem, workspace); });
  return times;
}

}  // namespace recon::cuda
