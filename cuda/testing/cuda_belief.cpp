#include "cuda/testing/cuda_belief.hpp"

#include "cuda/methods/stereo/belief_stream.hpp"
#include "cuda/testing/measure.hpp"

namespace recon::cuda {

BeliefRun run_belief(const PairProblem& problem, int device) {
  use_device(device);
  PairWorkspace workspace;
  BeliefRun run;
  run.planned_bytes = BeliefStream::bytes(pair_shape(problem), problem.options);
  BeliefStream method(pair_shape(problem), problem.options, workspace.arena);
  run.arena_bytes = workspace.arena.used();
  RECON_CUDA_TRY(
      cudaMemsetAsync(workspace.arena.base(), 0xFF, workspace.arena.capacity(), workspace.stream.get()));
  method.upload(problem, workspace);
  method.queue(workspace);
  run.map.disparity = method.download(workspace);
  return run;
}

BeliefTimes time_belief(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  BeliefTimes times;
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  const Stream& stream = workspace.stream;
  BeliefStream method(pair_shape(problem), problem.options, workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  method.upload(problem, workspace);
  stream.synchronize();
  const BeliefStream::Buffers& at = method.buffers();
  const std::size_t image_bytes = 2 * at.image_bytes;
  const std::size_t winner_bytes =
      element_count({problem.images.left.width, problem.images.left.height, sizeof(std::uint16_t)});
  const PinnedBuffer images(image_bytes), winners(winner_bytes);
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    RECON_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()));
  };
  copy(images.data(), at.images, image_bytes);
  times.with_transfers = time_events(stream, repeats, [&] {
    copy(at.images, images.data(), image_bytes);
    method.queue(workspace);
    copy(winners.data(), at.winners, winner_bytes);
  });
  times.kernels = time_events(stream, repeats, [&] { method.queue(workspace); });
  times.whole = time_whole(repeats, [&] { match_pair(problem, workspace); });
  return times;
}

}  // namespace recon::cuda
