#include "cuda/testing/cuda_pairs.hpp"

#include "cuda/methods/stereo/pair_stream.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {

namespace {

void fill(const Arena& arena, std::uint8_t poison, const Stream& stream) {
  RECON_CUDA_TRY(cudaMemsetAsync(arena.base(), poison, arena.capacity(), stream.get()));
}

/// Copies vectors to and from the device; done on return.
template <class T>
void copy(T* to, const T* from, std::size_t count, const Stream& stream) {
  RECON_CUDA_TRY(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream.get()));
  stream.synchronize();
}

}  // namespace

PairRun run_pair(const PairProblem& problem, std::uint8_t poison, int device) {
  use_device(device);
  PairWorkspace workspace;
  PairRun run;
  run.planned_bytes = pair_stream_bytes(pair_shape(problem), problem.options);
  const auto method = make_pair_stream(pair_shape(problem), problem.options, workspace.arena);
  run.arena_bytes = workspace.arena.used();
  fill(workspace.arena, poison, workspace.stream);
  method->upload(problem, workspace);
  method->queue(workspace);
  run.map.disparity = method->download(workspace);
  return run;
}

BlockTimes time_block_matching(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  BlockTimes times;
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  BlockStream method(pair_shape(problem), problem.options, workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  method.upload(problem, workspace);
  times.whole = time_events(workspace.stream, repeats, [&] { method.queue(workspace); });
  times.search = time_events(workspace.stream, repeats, [&] { method.queue_search(workspace); });
  times.call = time_whole(repeats, [&] { match_pair(problem, workspace); });
  return times;
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

PathWinners optimize_given_costs(const GivenCosts& given, std::uint8_t poison, int device) {
  use_device(device);
  SemiGlobalInput input;
  input.width = given.guide.width;
  input.height = given.guide.height;
  input.planes = given.planes;
  input.options = given.options;
  input.max_cost = given.max_cost;
  input.right_view = given.right_view;
  input.min_disparity = given.min_disparity;
  input.sums = given.sums;
  const std::size_t pixels = element_count({input.width, input.height});
  const auto planes = static_cast<std::size_t>(given.planes);
  const auto padded = static_cast<std::size_t>(path_planes(given.planes));
  std::vector<std::uint8_t> costs(pixels * padded, poison), guide(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (int d = 0; d < given.planes; ++d)
      costs[i * padded + static_cast<std::size_t>(plane_byte(d))] =
          (*given.costs)[i * planes + static_cast<std::size_t>(d)];
    guide[i] = given.guide(static_cast<int>(i) % input.width, static_cast<int>(i) / input.width);
  }
  const Stream stream;
  struct Buffers {
    std::uint8_t *costs, *guide;
    SemiGlobal::Buffers paths;
  };
  Arena arena;
  const Buffers at = allocate(arena, [&](Arena& memory) {
    auto* device_costs = memory.take<std::uint8_t>(costs.size());
    auto* device_guide = memory.take<std::uint8_t>(pixels);
    return Buffers{device_costs, device_guide, SemiGlobal::take(input, memory)};
  });
  fill(arena, poison, stream);
  input.costs = at.costs;
  input.guide = at.guide;
  input.guide_pitch = input.width;
  copy(at.costs, costs.data(), costs.size(), stream);
  copy(at.guide, guide.data(), pixels, stream);
  const SemiGlobal optimizer(input, at.paths);
  optimizer.queue(stream);
  PathWinners result;
  result.winners.resize(pixels);
  copy(result.winners.data(), optimizer.winners(), pixels, stream);
  if (!given.right_view) return result;
  std::vector<std::uint32_t> keys(pixels);
  copy(keys.data(), optimizer.right_keys(), pixels, stream);
  for (const std::uint32_t key : keys) result.right_planes.push_back(static_cast<std::uint16_t>(key));
  return result;
}

SemiGlobalTimes time_semi_global(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  SemiGlobalTimes times;
  use_device(device);
  PairWorkspace workspace;
  const Stream& stream = workspace.stream;
  SemiGlobalStream method(pair_shape(problem), problem.options, workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  method.upload(problem, workspace);
  const Graph graph(stream, [&] { method.queue(workspace); });
  const auto time = [&](const auto& queue) { return time_events(stream, repeats, queue); };
  times.whole = time([&] { graph.launch(stream); });
  times.transform = time([&] { method.queue_transform(stream); });
  times.costs = time([&] { method.queue_costs(stream); });
  times.paths = time([&] { method.optimizer().queue_paths(stream); });
  times.winner = time([&] { method.optimizer().queue_winner(stream); });
  times.disparity = time([&] { method.queue_disparity(stream); });
  times.median = time([&] { method.queue_median(stream); });
  times.call = time_whole(repeats, [&] {
    method.upload(problem, workspace);
    graph.launch(stream);
    method.download(workspace);
  });
  return times;
}

}  // namespace recon::cuda
