#include "cuda/testing/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/device/graph.hpp"
#include "cuda/methods/stereo/graph_matcher.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "cuda/testing/naive_kernels.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {
namespace {

constexpr int kWarmUps = 3;

/// Milliseconds of what `queue` puts on the stream.
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

/// Milliseconds of `work` by the host's clock.
template <class Work>
TimeSpread time_call(int repeats, const Work& work) {
  std::vector<double> times;
  for (int i = -kWarmUps; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= 0) times.push_back(elapsed.count());
  }
  return spread_of(std::move(times));
}

/// The time of each stage, taken by events within one graph; stages of the same name are summed.
/// @param queue  queues them and calls a function after each, with its name
template <class Queue>
std::vector<StageTimes::Stage> time_each(const Stream& stream, int repeats, const Queue& queue) {
  std::vector<std::pair<std::string, std::unique_ptr<Event>>> marks;
  const auto mark = [&](const char* stage) {
    marks.emplace_back(stage, std::make_unique<Event>());
    marks.back().second->record_in_graph(stream);
  };
  const Graph graph(stream, [&] {
    mark("begin");
    queue(mark);
  });
  std::vector<std::pair<std::string, std::vector<double>>> times;  // in the order of the stages
  for (int i = -kWarmUps; i < repeats; ++i) {
    graph.launch(stream.get());
    stream.synchronize();
    if (i < 0) continue;
    for (std::size_t k = 1; k < marks.size(); ++k) {
      const auto& [name, event] = marks[k];
      auto stage = std::find_if(times.begin(), times.end(), [&](const auto& t) { return t.first == name; });
      if (stage == times.end()) stage = times.insert(times.end(), {name, {}});
      stage->second.resize(static_cast<std::size_t>(i) + 1);
      stage->second.back() += event->milliseconds_since(*marks[k - 1].second);
    }
  }
  std::vector<StageTimes::Stage> stages;
  for (auto& [name, values] : times) stages.push_back({name, spread_of(std::move(values))});
  return stages;
}

NaiveCamera naive_camera(const PosedImage& image) {
  const Pinhole& c = image.camera;
  const Pose world_from_cam = inverse(image.cam_from_world);
  const double cx = c.cx - 0.5, cy = c.cy - 0.5;
  NaiveCamera n{{c.fx, 0, cx, 0, c.fy, cy, 0, 0, 1},
                {1 / c.fx, 0, -cx / c.fx, 0, 1 / c.fy, -cy / c.fy, 0, 0, 1},
                {},
                {},
                {image.cam_from_world.translation.x, image.cam_from_world.translation.y,
                 image.cam_from_world.translation.z},
                {world_from_cam.translation.x, world_from_cam.translation.y, world_from_cam.translation.z},
                c.width,
                c.height};
  std::copy_n(image.cam_from_world.rotation.m, 9, n.r);
  std::copy_n(world_from_cam.rotation.m, 9, n.r_inverse);
  return n;
}

}  // namespace

StageTimes time_stages(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1 && !has_graph_cut(problem.options));
  use_device(device);
  check_pair(problem);
  Workspace workspace;
  const Stream& stream = workspace.stream;
  PairExecutor executor({pair_shape(problem), problem.options}, workspace.arena);
  StageTimes times;
  times.device_bytes = workspace.arena.capacity();
  executor.upload(problem, workspace);
  const Graph graph(stream, [&] { executor.queue(workspace); });
  times.kernels = time_events(stream, repeats, [&] { graph.launch(stream.get()); });
  times.stages = time_each(stream, repeats, [&](const auto& mark) { executor.queue(workspace, mark); });
  times.call = time_call(repeats, [&] { match_pair(problem, workspace); });
  return times;
}

namespace {

/// A pair and a map in device memory, rows without padding.
struct LivePair {
  const std::uint8_t* images[2];
  float* map;
  int width, height;

  LivePair(const GreyPair& pair, Call& call)
      : images{call.upload(pair.left, pair.left.width), call.upload(pair.right, pair.left.width)},
        map(call.take<float>(element_count({pair.left.width, pair.left.height}))),
        width(pair.left.width),
        height(pair.left.height) {
    call.synchronize();
  }

  void match(DeviceMatcher& matcher, cudaStream_t stream) const {
    matcher.match({{{images[0], width, height, width},
                    {images[1], width, height, width},
                    {map, width, height, width * static_cast<std::ptrdiff_t>(sizeof(float))}}},
                  stream);
  }
};

/// The times of the kernels of `LivePair::match` alone.
void time_kernels(const LivePair& pair, const PairSpec& options, int min_patch, int repeats,
                  LiveTimes& times) {
  const int width = pair.width, height = pair.height;
  Workspace workspace;
  const Stream& stream = workspace.stream;
  PairExecutor executor({{width, height, false}, options, min_patch}, workspace.arena);
  executor.upload_constants(workspace);
  const PairSources images{{pair.images[0], pair.images[1]}, {width, width}, 1, width, height};
  const auto queue = [&](const auto& mark) {
    launch_import(images, executor.targets(), stream.get());
    mark("import");
    executor.queue(workspace, mark);
    launch_export(executor.result(), {pair.map, width, width, height}, stream.get());
    mark("export");
  };
  const auto whole = [&] { queue([](const char*) {}); };
  const Graph graph(stream, whole);
  times.kernels = time_events(stream, repeats, [&] { graph.launch(stream.get()); });
  times.no_graph = time_call(repeats, [&] { whole(), stream.synchronize(); });
  times.stages = time_each(stream, repeats, queue);
}

}  // namespace

LiveTimes time_live(const PairProblem& problem, int min_patch, int repeats, int device) {
  EXPECTS(repeats >= 1 && problem.images.left16.empty());
  check_runs_on_device(problem.options);
  use_device(device);
  check_pair(problem);
  Call call;
  std::vector<LivePair> pairs;
  for (int i = 0; i < 4; ++i) pairs.emplace_back(problem.images, call);
  const LivePair& pair = pairs.front();
  LiveTimes times;
  time_kernels(pair, problem.options, min_patch, repeats, times);
  const auto matcher = make_graph_matcher({pair.width, pair.height, 1, problem.options, min_patch});
  times.device_bytes = matcher->bytes();
  const auto match = [&] { pair.match(*matcher, call.get()); };
  times.latency = time_call(repeats, [&] { match(), call.synchronize(); });
  std::size_t turn = 0;
  times.rotating = time_call(
      repeats, [&] { pairs[turn++ % pairs.size()].match(*matcher, call.get()), call.synchronize(); });
  times.events = time_events(call, repeats, match);
  constexpr int kCalls = 32;
  times.in_a_row = time_call(repeats, [&] {
    for (int i = 0; i < kCalls; ++i) match();
    call.synchronize();
  });
  for (double* time : {&times.in_a_row.median, &times.in_a_row.p10, &times.in_a_row.p90}) *time /= kCalls;
  return times;
}

StageTimes time_stages(const SweepProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  use_device(device);
  const SweepPlan plan = plan_sweep(sweep_shape(problem), free_memory() / 10 * 9);
  Workspace workspace;
  CachedSources none(nullptr);
  StageTimes times;
  times.device_bytes = plan.bytes;
  BlockExecutor executor(problem, plan, workspace, none);
  times.kernels = time_events(workspace.stream, repeats, [&] {
    for (const SweepBlock& block : executor.blocks()) executor.queue(block);
  });
  times.call = time_call(repeats, [&] { sweep_view(problem, plan, workspace); });
  return times;
}

NaiveSweep time_naive_sweep(const SweepProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1 && problem.reference.channels == 1 && problem.cost.kind == CostKind::kSad);
  use_device(device);
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  const int planes = problem.planes.count;
  const std::size_t pixels = element_count({width, height});
  Call call;
  auto* cube = call.take<float>(pixels * static_cast<std::size_t>(planes));
  auto* winners = call.take<std::uint16_t>(pixels);
  std::vector<NaiveImage> images;
  const auto put_image = [&](const PosedImage& image) {
    const NaiveCamera camera = naive_camera(image);
    const auto* at = call.upload(ImageView<const NaiveCamera>{&camera, 1, 1, 1}, 1);
    images.push_back({at, call.upload(image.channel[0], camera.width)});
    call.synchronize();
  };
  put_image(problem.reference);
  for (const PosedImage& source : problem.sources) put_image(source);
  NaiveSweep result;
  result.kernels = time_events(call, repeats, [&] {
    launch_naive_sweep(images.data(), static_cast<int>(problem.sources.size()), width, height, problem.planes,
                       problem.cost.window, cube, winners, call.get());
  });
  const Image<std::uint16_t> found = call.download(winners, width, width, height);
  result.planes = Image<int>(width, height);
  for (int y = 0; y < height; ++y) std::copy_n(found.row(y), width, result.planes.row(y));
  return result;
}

}  // namespace recon::cuda
