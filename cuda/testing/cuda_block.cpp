#include "cuda/testing/cuda_block.hpp"

#include <algorithm>
#include <chrono>

#include "cuda/methods/stereo/block_matching.hpp"
#include "cuda/methods/stereo/block_stream.hpp"

namespace recon::cuda {
namespace {

constexpr int kWarmUps = 3;

std::string use_device(int device) {
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
    cudaGetLastError();  // so that the next launch is not blamed for it
    throw DeviceUnavailable("cuda:" + std::to_string(device) +
                            " cannot be used: " + cudaGetErrorString(error));
  }
  cudaDeviceProp properties{};
  RECON_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

TimeSpread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

template <class Queue>
TimeSpread time_events(const Stream& stream, int repeats, const Queue& queue) {
  std::vector<double> times;
  Event start, stop;
  for (int i = -kWarmUps; i < repeats; ++i) {
    start.record(stream);
    queue();
    stop.record(stream);
    stop.synchronize();
    if (i >= 0) times.push_back(stop.milliseconds_since(start));
  }
  return spread_of(std::move(times));
}

}  // namespace

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
  times.device = use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  const BlockTiling tiling{tile_width, strip_rows};
  const BlockStream lane(problem.images.left.width, problem.images.left.height, problem.options,
                         workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  lane.upload(problem.images, workspace.staging, workspace.stream);
  times.whole = time_events(workspace.stream, repeats, [&] { lane.queue(workspace.stream, tiling); });
  times.search = time_events(workspace.stream, repeats, [&] { lane.queue_search(workspace.stream, tiling); });
  std::vector<double> calls;
  for (int i = -kWarmUps; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    block_matching(problem, workspace);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= 0) calls.push_back(elapsed.count());
  }
  times.call = spread_of(std::move(calls));
  return times;
}

}  // namespace recon::cuda
