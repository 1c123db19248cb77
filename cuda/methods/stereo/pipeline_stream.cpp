#include "cuda/methods/stereo/pipeline_stream.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "cuda/aggregate/aggregation.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/optimize/scanline/scanline.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/surfaces.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "optimize/graph_cut/graph_cut.hpp"

namespace recon::cuda {
namespace {

CostTables tables_of(const MethodSpec& pipeline) {
  if (is_transform(pipeline)) return {};
  return is_ad_census(pipeline) ? ad_census_tables(pipeline.cost.ad_census)
                                : colour_difference_tables(pipeline.cost.colour_cap);
}

void check_options(const MethodSpec& pipeline) {
  const VotingOptions& voting = pipeline.voting;
  const int window = pipeline.cost.transform.rank_window;
  check(pipeline, false);
  EXPECTS(pipeline.left_right >= 0.0f && voting.iterations >= 0 && voting.min_votes >= 0);
  EXPECTS(voting.min_share >= 0.0f && voting.min_share <= 1.0f);
  EXPECTS(!is_transform(pipeline) || (pipeline.cost.outside_cost >= 0 && pipeline.cost.outside_cost <= 255));
  EXPECTS(!is_transform(pipeline) || pipeline.cost.transform.transform != Transform::kRank ||
          (window >= 3 && window <= kMaxRankWindow && window % 2 == 1));
}

/// Calls `mark` unless it is empty.
void report(const PipelineMark& mark, const char* step) {
  if (mark) mark(step);
}

int index_of(PairSide side) {
  return side == PairSide::kLeft ? 0 : 1;
}

}  // namespace

std::size_t PipelineStream::bytes(const PairShape& shape, const PairSpec& options) {
  return bytes_taken(
      [&](Arena& arena) { take_pipeline_buffers(shape, options.range.count, options, arena); });
}

std::size_t PipelineStream::host_bytes(const PairShape& shape, const PairSpec& options, int threads) {
  if (!has_graph_cut(options)) return 0;
  // The disparities and their labels, with an upper bound of the row padding.
  const std::size_t map = element_count({std::ptrdiff_t{shape.width} + 64, shape.height}) * 6;
  return Volume<float>::bytes(shape.width, options.range.count, shape.height) + map +
         graph_cut_bytes(shape.width, shape.height, options.graph_cut, threads);
}

PipelineStream::PipelineStream(const PairShape& shape, const PairSpec& options, Arena& arena)
    : shape_(shape), range_(options.range), options_(options), tables_(tables_of(options_)) {
  check_options(options_);
  const int planes = range_.count;
  at_ =
      allocate(arena, [&](Arena& memory) { return take_pipeline_buffers(shape, planes, options_, memory); });
  if (side_by_side(shape, planes, options_)) side_ = std::make_unique<Side>();
}

void PipelineStream::upload(const PairProblem& problem, PairWorkspace& workspace) {
  const auto fits = [&](const auto& image) {
    return image.width == shape_.width && image.height == shape_.height;
  };
  EXPECTS(fits(problem.colour.left) && fits(problem.colour.right));
  EXPECTS(fits(problem.images.left) && fits(problem.images.right));
  guide_[0] = problem.images.left;
  guide_[1] = problem.images.right;
  const Stream& stream = workspace.stream;
  if (at_.tables) {
    constexpr int kFloats = sizeof(CostTables) / sizeof(float);
    const ImageView<const float> tables{reinterpret_cast<const float*>(&tables_), kFloats, 1, kFloats};
    workspace.staging.upload(tables, at_.tables, kFloats, stream);
  }
  workspace.staging.upload(problem.colour.left, at_.colours[0], shape_.width, stream);
  workspace.staging.upload(problem.colour.right, at_.colours[1], shape_.width, stream);
  if (at_.grey.bytes[0] != nullptr) at_.grey.upload(problem.images, workspace);
}

void PipelineStream::queue(PairWorkspace& workspace, const PipelineMark& mark) const {
  const cudaStream_t stream = workspace.stream.get();
  queue_images(stream);
  report(mark, "images");
  const DeviceVolume costs = match_both(workspace, mark);
  if (options_.refine.left_right) queue_repair(stream, mark);
  queue_map_steps(costs, stream, mark);
}

/// Derived images that later steps use instead of the colours or grey levels.
void PipelineStream::queue_images(cudaStream_t stream) const {
  const int width = shape_.width, height = shape_.height;
  for (int i = 0; i < 2; ++i) {
    if (is_ad_census(options_)) queue_grey(at_.colours[i], width, height, at_.luma, stream);
    if (at_.transformed[i] != nullptr) {
      const DeviceGrey luma{at_.luma, false, width, width, height};
      launch_transform(is_ad_census(options_) ? luma : at_.grey.view(i, shape_), transform_of(options_),
                       at_.transformed[i], stream);
    }
    if (at_.edges[i] != nullptr)
      queue_edges(at_.colours[i], width, height, options_.scanline.edge_threshold, at_.edges[i], stream);
    const DeviceColours colours{at_.colours[i], width, width, height};
    if (at_.arms[i] != nullptr)
      queue_cross_arms(colours, options_.aggregation.cross, at_.arms[i], width, stream);
  }
}

/// Computes the winners of both views, or of the left one if only that is required; returns the left view's
/// costs.
DeviceVolume PipelineStream::match_both(PairWorkspace& workspace, const PipelineMark& mark) const {
  const Stream& stream = workspace.stream;
  const auto match_view = [&](PairSide side, float* disparity, const Stream& on) {
    const DeviceVolume costs = match(side, disparity, on, mark);
    if (!has_graph_cut(options_)) return costs;
    cut(side, costs, disparity, workspace);
    report(mark, "graphcut");
    return costs;
  };
  if (!options_.refine.left_right) return match_view(PairSide::kLeft, at_.left, stream);
  const bool meanwhile = side_ != nullptr && !mark;
  const Stream& aside = meanwhile ? side_->stream : stream;
  if (meanwhile) {
    side_->begins.record(stream);
    RECON_CUDA_TRY(cudaStreamWaitEvent(aside.get(), side_->begins.get(), 0));
  }
  match_view(PairSide::kRight, at_.right, aside);
  const DeviceVolume costs = match_view(PairSide::kLeft, at_.left, stream);
  if (meanwhile) {
    side_->ends.record(aside);
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream.get(), side_->ends.get(), 0));
  }
  return costs;
}

/// Computes the winners of a view; returns the costs that later steps use.
DeviceVolume PipelineStream::match(PairSide side, float* disparity, const Stream& on,
                                   const PipelineMark& mark) const {
  const cudaStream_t stream = on.get();
  float* volume = at_.view[index_of(side)].costs;
  DeviceVolume costs = device_volume(volume, shape_.width, range_.count, shape_.height);
  queue_costs(side, costs, stream);
  report(mark, "cost");
  if (options_.aggregation.kind != Aggregation::kNone) {
    costs = aggregate(side, costs, stream);
    report(mark, "aggregation");
  }
  if (is_semi_global(options_)) {
    queue_paths(side, costs, disparity, on);
    report(mark, "sgm");
    return costs;
  }
  if (is_scanline(options_)) {
    costs = queue_scanline_means(side, costs, stream);
    report(mark, "scanline");
  }
  queue_min_cost(costs, range_.min, disparity, stream);
  report(mark, "winner");
  return costs;
}

void PipelineStream::queue_costs(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const {
  if (is_transform(options_)) {
    const TransformedPair pair{
        at_.transformed[0], at_.transformed[1],        shape_.width, shape_.height, range_.min,
        range_.count,       options_.cost.outside_cost};
    return launch_transform_volume(pair, options_.cost.transform.transform, side, costs, stream);
  }
  const int own = index_of(side), other = 1 - own;
  const auto census = [&](int i) { return reinterpret_cast<const std::uint64_t*>(at_.transformed[i]); };
  const float* by_bits = at_.tables + kMaxChannelSum + 1;
  queue_colour_costs({at_.colours[own], at_.colours[other], census(own), census(other), at_.tables, by_bits,
                      side, range_.min},
                     costs, stream);
}

/// Returns the aggregated costs, in the scratch memory or in the buffer of `costs`.
DeviceVolume PipelineStream::aggregate(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const {
  const int own = index_of(side), min = range_.min, width = shape_.width;
  const ColourImages colours{at_.colours[own], at_.colours[1 - own], width, side, min};
  const CrossImages arms{at_.arms[own], at_.arms[1 - own], width, side, min};
  return queue_aggregation(colours, arms, options_.aggregation, max_cost(options_.cost), costs,
                           at_.view[own].scratch, stream);
}

/// Returns the means of the paths, in whichever of costs and scratch memory the given costs are not.
DeviceVolume PipelineStream::queue_scanline_means(PairSide side, const DeviceVolume& costs,
                                                  cudaStream_t stream) const {
  const int own = index_of(side);
  const PipelineViewBuffers& view = at_.view[own];
  float* free = costs.data == view.costs ? reinterpret_cast<float*>(view.scratch) : view.costs;
  const DeviceVolume mean = device_volume(free, costs.width, costs.planes, costs.height);
  queue_scanlines(costs, {at_.edges[own], at_.edges[1 - own], side, range_.min}, options_.scanline, mean,
                  stream);
  return mean;
}

/// The semi-global optimizer over the costs rounded to integers.
void PipelineStream::queue_paths(PairSide side, const DeviceVolume& costs, float* disparity,
                                 const Stream& stream) const {
  const int own = index_of(side), width = shape_.width, height = shape_.height;
  const PipelineViewBuffers& view = at_.view[own];
  launch_whole_costs(costs, whole_cost_steps(options_.cost), whole_cost_limit(options_.cost),
                     {view.quantized, width, height, path_planes(range_.count)}, stream.get());
  SemiGlobalInput input = pipeline_path_input(shape_, range_.count, options_);
  input.costs = view.quantized;
  input.guide = at_.grey.bytes[own];
  const SemiGlobal paths(input, view.paths);
  paths.queue(stream);
  const PairWinners winners{paths.winners(), nullptr, width, height};
  WinnerChecks unchecked;
  launch_pair_disparity(winners, unchecked, range_.min, disparity, stream.get());
  if (side != PairSide::kLeft || at_.subpixel == nullptr) return;
  unchecked.subpixel = true;
  launch_pair_disparity(winners, unchecked, range_.min, at_.subpixel, stream.get());
}

/// Minimises the energy of a view's disparities by graph cut, on the host; complete on return.
void PipelineStream::cut(PairSide side, const DeviceVolume& costs, float* disparity,
                         PairWorkspace& workspace) const {
  Volume<float> found(costs.width, costs.planes, costs.height);
  const VolumeView<float> view = found.view();
  const Stream& stream = workspace.stream;
  workspace.staging.download(costs.data, costs.pitch,
                             {view.data, costs.width, costs.planes * costs.height, view.pitch}, stream);
  Image<float> map(costs.width, costs.height);
  workspace.staging.download(disparity, costs.width, map.view(), stream);
  // In a separate arena: a loop that waits here must not start another match, which would wait for this one.
  oneapi::tbb::task_arena host(workspace.host_threads);
  host.execute(
      [&] { cut_disparities(view, guide_[index_of(side)], options_.graph_cut, range_.min, map.view()); });
  workspace.staging.upload<float>(map.view(), disparity, costs.width, stream);
}

/// The left-right check, and the steps that fill its outliers or invalidate them.
void PipelineStream::queue_repair(cudaStream_t stream, const PipelineMark& mark) const {
  const Refinement& steps = options_.refine;
  const LabelledMap map{at_.left,      at_.outliers, at_.right,   shape_.width,
                        shape_.height, range_.min,   range_.count};
  queue_left_right_check(map, options_.left_right, stream);
  report(mark, "check");
  if (steps.interpolate) {
    queue_surfaces(map, {at_.reliable, at_.labels, at_.sizes, at_.strips}, stream);
    report(mark, "surfaces");
  }
  if (steps.vote || steps.interpolate) queue_outlier_list(map, at_.list, stream);
  if (steps.vote) {
    const VotingOptions& voting = options_.voting;
    queue_votes(map, at_.list, {at_.arms[0], at_.bins, voting.min_votes, voting.min_share, voting.iterations},
                stream);
    report(mark, "vote");
  }
  if (!steps.interpolate) return queue_invalidate(map, stream);
  queue_interpolation(map, at_.list, at_.colours[0], stream);
  report(mark, "interpolate");
}

/// Steps that need no outliers; see `result` for the location of the map.
void PipelineStream::queue_map_steps(const DeviceVolume& costs, cudaStream_t stream,
                                     const PipelineMark& mark) const {
  const Refinement& steps = options_.refine;
  float *map = at_.left, *other = at_.spare;
  if (steps.edges) {
    queue_adjustment(map, costs, range_.min, other, stream);
    std::swap(map, other);
    report(mark, "edges");
  }
  if (steps.subpixel) {
    if (is_semi_global(options_))
      queue_take_subpixel(at_.subpixel, map, shape_.width, shape_.height, stream);
    else
      queue_enhancement(map, costs, range_.min, stream);
    report(mark, "subpixel");
  }
  if (steps.median) {
    launch_median_3x3(map, shape_.width, shape_.height, other, stream);
    report(mark, "median");
  }
}

const float* PipelineStream::result() const {
  const Refinement& steps = options_.refine;
  return steps.edges == steps.median ? at_.left : at_.spare;
}

Image<float> PipelineStream::download(PairWorkspace& workspace) const {
  Image<float> map(shape_.width, shape_.height);
  workspace.staging.download(result(), shape_.width, map.view(), workspace.stream);
  return map;
}

}  // namespace recon::cuda
