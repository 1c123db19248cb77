#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/gpu_test.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"

namespace recon::test {

/// A pair matched on a device whose memory was filled before.
struct PairRun {
  DisparityMap map;
  std::size_t planned_bytes = 0, arena_bytes = 0;  ///< predicted, taken
};

/// Runs the method of the options. @param poison  in every byte of the device's memory
inline PairRun run_pair(const PairProblem& problem, std::uint8_t poison) {
  cuda::Workspace workspace;
  const cuda::PairMethod method{cuda::pair_shape(problem), problem.options};
  cuda::PairExecutor executor(method, workspace.arena);
  PairRun run{{}, cuda::bytes_taken(method), workspace.arena.used()};
  RECON_CUDA_TRY(
      cudaMemsetAsync(workspace.arena.base(), poison, workspace.arena.capacity(), workspace.stream.get()));
  executor.upload(problem, workspace);
  executor.queue(workspace);
  run.map.disparity = executor.download(workspace);
  return run;
}

}  // namespace recon::test
