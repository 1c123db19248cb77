#include "cuda/testing/cuda_pipeline.hpp"

#include <map>
#include <memory>
#include <utility>

#include "cuda/aggregate/aggregation.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/stereo/pipeline_stream.hpp"
#include "cuda/optimize/scanline/scanline.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/surfaces.hpp"
#include "cuda/testing/support.hpp"

namespace recon::cuda {
namespace {

/// Memory for an image or a volume whose values are still to come.
template <class T>
T* take(Call& call, std::size_t count) {
  return reinterpret_cast<T*>(call.take_bytes(count * sizeof(T)));
}
DeviceVolume take_volume(Call& call, int width, int planes, int height) {
  auto* data = take<float>(call, device_volume_floats(width, planes, height));
  return device_volume(data, width, planes, height);
}

/// Images and their transforms, each in a piece of 8 bytes a pixel at most.
std::size_t pieces_bytes(int width, int height, int pieces) {
  return static_cast<std::size_t>(pieces) * arena_bytes(element_count({width, height, 8}));
}

}  // namespace

Volume<float> run_transform_costs(const GreyPair& pair, PairSide side, const DisparityRange& range,
                                  const MethodSpec& options, std::uint8_t poison, int device) {
  use_device(device);
  const int width = pair.left.width, height = pair.left.height;
  const TransformOptions& transform = options.cost.transform;
  Call call(pieces_bytes(width, height, 4) + device_volume_bytes(width, range.count, height), poison);
  const std::size_t bytes = element_count({width, height}) * transformed_bytes(transform.transform);
  std::byte* transformed[2];
  for (int i = 0; i < 2; ++i) {
    const DeviceGrey grey{call.upload(i == 0 ? pair.left : pair.right, width), false, width, width, height};
    transformed[i] = take<std::byte>(call, bytes);
    launch_transform(grey, transform, transformed[i], call.stream());
  }
  const DeviceVolume costs = take_volume(call, width, range.count, height);
  launch_transform_volume(
      {transformed[0], transformed[1], width, height, range.min, range.count, options.cost.outside_cost},
      transform.transform, side, costs, call.stream());
  return call.download(costs);
}

Volume<float> run_colour_costs(const ColourPair& pair, PairSide side, const DisparityRange& range,
                               const MethodSpec& options, std::uint8_t poison, int device) {
  use_device(device);
  const int width = pair.left.width, height = pair.left.height;
  const bool census = options.cost.kind == CostKind::kAdCensus;
  const CostTables tables =
      census ? ad_census_tables(options.cost.ad_census) : colour_difference_tables(options.cost.colour_cap);
  const ImageView<const float> sums{tables.by_sum.data(), kMaxChannelSum + 1, 1, kMaxChannelSum + 1},
      bits{tables.by_bits.data(), kMaxAdCensusBits + 1, 1, kMaxAdCensusBits + 1};
  Call call(pieces_bytes(width, height, 5) + 8 * kArenaAlignment + arena_bytes(sizeof(CostTables)) +
                device_volume_bytes(width, range.count, height),
            poison);
  ColourCosts views{};
  views.by_sum = call.upload(sums, sums.width);
  views.by_bits = call.upload(bits, bits.width);
  views.side = side, views.min_disparity = range.min;
  const bool left = side == PairSide::kLeft;
  views.reference = call.upload(left ? pair.left : pair.right, width);
  views.source = call.upload(left ? pair.right : pair.left, width);
  if (census) {
    auto* grey = take<std::uint8_t>(call, element_count({width, height}));
    for (const auto& [pixels, codes] : {std::pair{views.reference, &views.reference_census},
                                        std::pair{views.source, &views.source_census}}) {
      auto* transformed = take<std::uint64_t>(call, element_count({width, height}));
      queue_grey(pixels, width, height, grey, call.stream());
      launch_transform({grey, false, width, width, height}, TransformOptions{Transform::kCensus9x7},
                       transformed, call.stream());
      *codes = transformed;
    }
  }
  const DeviceVolume costs = take_volume(call, width, range.count, height);
  queue_colour_costs(views, costs, call.stream());
  return call.download(costs);
}

Volume<float> run_scanlines(VolumeView<const float> costs, ImageView<const Rgb8> reference,
                            const ScanlineView& other, const ScanlineOptions& options, std::uint8_t poison,
                            int device) {
  use_device(device);
  const int width = costs.width, height = costs.height;
  EXPECTS(reference.width == width && reference.height == height);
  EXPECTS(other.image.empty() || (other.image.width == width && other.image.height == height));
  Call call(pieces_bytes(width, height, 4) + 2 * device_volume_bytes(width, costs.planes, height), poison);
  const auto edges_of = [&](ImageView<const Rgb8> image) {
    auto* edges = take<std::uint8_t>(call, element_count({2, width, height}));
    queue_edges(call.upload(image, width), width, height, options.edge_threshold, edges, call.stream());
    return edges;
  };
  ScanlineEdges edges{edges_of(reference), nullptr, other.side, other.min_disparity};
  if (!other.image.empty()) edges.other = edges_of(other.image);
  const DeviceVolume given = call.upload(costs);
  const DeviceVolume mean = take_volume(call, width, costs.planes, height);
  queue_scanlines(given, edges, options, mean, call.stream());
  return call.download(mean);
}

Image<float> run_min_cost(VolumeView<const float> costs, int min_disparity, std::uint8_t poison, int device) {
  use_device(device);
  Call call(pieces_bytes(costs.width, costs.height, 1) +
                device_volume_bytes(costs.width, costs.planes, costs.height),
            poison);
  const DeviceVolume given = call.upload(costs);
  auto* disparity = take<float>(call, element_count({costs.width, costs.height}));
  queue_min_cost(given, min_disparity, disparity, call.stream());
  return call.download<float>(disparity, costs.width, costs.width, costs.height);
}

RepairedMap run_repair(const RepairProblem& problem, const RepairSteps& steps, std::uint8_t poison,
                       int device) {
  use_device(device);
  const int width = problem.left.width, height = problem.left.height;
  const std::size_t pixels = element_count({width, height});
  Call call(pieces_bytes(width, height, 11) + 2 * kArenaAlignment, poison);
  LabelledMap map{};
  map.disparity = call.upload(problem.left, width);
  map.right = call.upload(problem.right, width);
  map.outliers = steps.check ? take<Outlier>(call, pixels) : call.upload(problem.outliers, width);
  map.width = width, map.height = height;
  map.min = problem.range.min, map.count = problem.range.count;
  if (steps.check) queue_left_right_check(map, steps.tolerance, call.stream());
  const SurfaceScratch scratch{take<float>(call, pixels), take<int>(call, pixels), take<int>(call, pixels),
                               take<int>(call, 1)};
  if (steps.min_surface > 0) queue_small_surfaces(map, scratch, steps.min_surface, call.stream());
  if (steps.extend) queue_extension(map, scratch, call.stream());
  const OutlierList list{take<int>(call, pixels), take<int>(call, 1)};
  queue_outlier_list(map, list, call.stream());
  if (steps.votes > 0)
    queue_votes(map, list,
                {call.upload(problem.crosses, width), take<std::int16_t>(call, pixels),
                 steps.voting.min_votes, steps.voting.min_share, steps.votes},
                call.stream());
  if (steps.interpolate) queue_interpolation(map, list, call.upload(problem.colours, width), call.stream());
  return {call.download<float>(map.disparity, width, width, height),
          call.download<Outlier>(map.outliers, width, width, height)};
}

Image<float> run_map_steps(ImageView<const float> disparity, VolumeView<const float> costs, int min,
                           const MapSteps& steps, std::uint8_t poison, int device) {
  use_device(device);
  const int width = disparity.width, height = disparity.height;
  EXPECTS(costs.width == width && costs.height == height);
  Call call(pieces_bytes(width, height, 2) + device_volume_bytes(width, costs.planes, height), poison);
  const DeviceVolume given = call.upload(costs);
  float* map = call.upload(disparity, width);
  auto* other = take<float>(call, element_count({width, height}));
  if (steps.adjust) queue_adjustment(map, given, min, other, call.stream()), std::swap(map, other);
  if (steps.enhance) queue_enhancement(map, given, min, call.stream());
  if (steps.median) launch_median_3x3(map, width, height, other, call.stream()), std::swap(map, other);
  return call.download<float>(map, width, width, height);
}

namespace {

/// The time of each step of a pipeline, taken by events within one graph.
std::vector<PipelineTimes::Step> time_steps(const PipelineStream& method, PairWorkspace& workspace,
                                            int repeats) {
  const Stream& stream = workspace.stream;
  std::vector<std::pair<std::string, std::unique_ptr<Event>>> marks;
  const auto mark = [&](const char* step) {
    marks.emplace_back(step, std::make_unique<Event>());
    marks.back().second->record_in_graph(stream);
  };
  const Graph graph(stream, [&] {
    mark("begin");
    method.queue(workspace, mark);
  });
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> times;
  for (int i = -kWarmUps; i < repeats; ++i) {
    graph.launch(stream);
    stream.synchronize();
    std::map<std::string, double> sums;
    for (std::size_t k = 1; k < marks.size(); ++k) {
      if (sums.count(marks[k].first) == 0 && i == 0) names.push_back(marks[k].first);
      sums[marks[k].first] += marks[k].second->milliseconds_since(*marks[k - 1].second);
    }
    for (const auto& [name, time] : sums)
      if (i >= 0) times[name].push_back(time);
  }
  std::vector<PipelineTimes::Step> steps;
  for (const std::string& name : names) steps.push_back({name, spread_of(times[name])});
  return steps;
}

}  // namespace

PipelineTimes time_pipeline(const PairProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1 && !has_graph_cut(problem.options));
  PipelineTimes times;
  use_device(device);
  check_pair(problem);
  PairWorkspace workspace;
  const Stream& stream = workspace.stream;
  PipelineStream method(pair_shape(problem), problem.options, workspace.arena);
  times.device_bytes = workspace.arena.capacity();
  method.upload(problem, workspace);
  const Graph graph(stream, [&] { method.queue(workspace); });
  times.whole = time_events(stream, repeats, [&] { graph.launch(stream); });
  times.steps = time_steps(method, workspace, repeats);
  times.call = time_whole(repeats, [&] {
    method.upload(problem, workspace);
    graph.launch(stream);
    method.download(workspace);
  });
  return times;
}

}  // namespace recon::cuda
