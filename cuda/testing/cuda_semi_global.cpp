#include "cuda/testing/cuda_semi_global.hpp"

#include "cuda/device/graph.hpp"
#include "cuda/methods/stereo/semi_global_stream.hpp"
#include "cuda/optimize/semi_global/plane_bytes.hpp"
#include "cuda/testing/measure.hpp"

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

SemiGlobalRun run_semi_global(const PairProblem& problem, std::uint8_t poison, int device) {
  use_device(device);
  const GreyPair& images = problem.images;
  const int width = images.left.width, height = images.left.height;
  const bool words = !images.left16.empty();
  PairWorkspace workspace;
  SemiGlobalRun run;
  run.planned_bytes = SemiGlobalStream::bytes(width, height, problem.options, words);
  const SemiGlobalStream lane(width, height, problem.options, words, workspace.arena);
  run.arena_bytes = workspace.arena.used();
  fill(workspace.arena, poison, workspace.stream);
  lane.upload(images, workspace.staging, workspace.stream);
  lane.queue(workspace.stream);
  run.map.disparity = lane.download(workspace.staging, workspace.stream);
  return run;
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
  input.in_place = given.in_place;
  const std::size_t pixels = element_count({input.width, input.height});
  const auto planes = static_cast<std::size_t>(given.planes);
  const auto padded = static_cast<std::size_t>(padded_planes(given.planes));
  std::vector<std::uint8_t> costs(pixels * padded, poison), guide(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (int d = 0; d < given.planes; ++d)
      costs[i * padded + static_cast<std::size_t>(plane_byte(d))] =
          (*given.costs)[i * planes + static_cast<std::size_t>(d)];
    guide[i] = given.guide(static_cast<int>(i) % input.width, static_cast<int>(i) / input.width);
  }
  const Stream stream;
  Arena arena;
  arena.reset(arena_bytes(costs.size()) + arena_bytes(pixels) + SemiGlobal::bytes(input));
  fill(arena, poison, stream);
  auto* device_costs = arena.take<std::uint8_t>(costs.size());
  auto* device_guide = arena.take<std::uint8_t>(pixels);
  input.costs = device_costs;
  input.guide = device_guide;
  input.guide_pitch = input.width;
  copy(device_costs, costs.data(), costs.size(), stream);
  copy(device_guide, guide.data(), pixels, stream);
  const SemiGlobal optimizer(input, arena);
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
  const GreyPair& images = problem.images;
  PairWorkspace workspace;
  const Stream& stream = workspace.stream;
  const SemiGlobalStream lane(images.left.width, images.left.height, problem.options, !images.left16.empty(),
                              workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  lane.upload(images, workspace.staging, stream);
  const Graph graph(stream, [&] { lane.queue(stream); });
  const auto time = [&](const auto& queue) { return time_events(stream, repeats, queue); };
  times.whole = time([&] { graph.launch(stream); });
  times.transform = time([&] { lane.queue_transform(stream); });
  times.costs = time([&] { lane.queue_costs(stream); });
  times.paths = time([&] { lane.optimizer().queue_paths(stream); });
  times.winner = time([&] { lane.optimizer().queue_winner(stream); });
  times.disparity = time([&] { lane.queue_disparity(stream); });
  times.median = time([&] { lane.queue_median(stream); });
  times.call = time_whole(repeats, [&] {
    lane.upload(images, workspace.staging, stream);
    graph.launch(stream);
    lane.download(workspace.staging, stream);
  });
  return times;
}

}  // namespace recon::cuda
