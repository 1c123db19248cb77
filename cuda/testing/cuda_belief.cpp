#include "cuda/testing/cuda_belief.hpp"

#include "cuda/methods/stereo/belief_call.hpp"
#include "cuda/methods/stereo/belief_matching.hpp"
#include "cuda/testing/measure.hpp"

namespace recon::cuda {

BeliefRun run_belief(const PairProblem& problem, int device) {
  use_device(device);
  PairWorkspace workspace;
  BeliefRun run;
  run.planned_bytes =
      belief_matching_bytes(problem.images.left.width, problem.images.left.height, problem.options);
  workspace.arena.reset(run.planned_bytes);
  RECON_CUDA_TRY(cudaMemsetAsync(workspace.arena.take<std::byte>(run.planned_bytes), 0xFF, run.planned_bytes,
                                 workspace.stream.get()));
  run.map = belief_matching(problem, workspace);
  run.arena_bytes = workspace.arena.capacity();
  return run;
}

BeliefTimes time_belief(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  BeliefTimes times;
  use_device(device);
  PairWorkspace workspace;
  {
    BeliefCall call(problem, workspace);
    call.stage();
    times.with_transfers = time_events(workspace.stream, repeats, [&] {
      call.upload();
      call.propagate();
      call.download();
    });
    times.kernels = time_events(workspace.stream, repeats, [&] { call.propagate(); });
  }
  times.whole = time_whole(repeats, [&] { belief_matching(problem, workspace); });
  times.device_bytes = workspace.arena.capacity();
  return times;
}

}  // namespace recon::cuda
