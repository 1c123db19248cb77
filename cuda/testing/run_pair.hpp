#pragma once

#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/testing/cuda_pairs.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {

/// Matches a pair by `Method`, a PairStream, in device memory filled with `poison`.
template <class Method>
PairRun run_pair(const PairProblem& problem, const PairShape& shape, std::uint8_t poison, int device) {
  use_device(device);
  PairWorkspace workspace;
  PairRun run;
  run.planned_bytes = Method::bytes(shape, problem.options);
  Method method(shape, problem.options, workspace.arena);
  run.arena_bytes = workspace.arena.used();
  RECON_CUDA_TRY(
      cudaMemsetAsync(workspace.arena.base(), poison, workspace.arena.capacity(), workspace.stream.get()));
  method.upload(problem, workspace);
  method.queue(workspace);
  run.map.disparity = method.download(workspace);
  return run;
}

}  // namespace recon::cuda
