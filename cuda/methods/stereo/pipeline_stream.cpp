#include "cuda/methods/stereo/pipeline_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/aligned_buffer.hpp"
#include "cuda/aggregate/aggregation.hpp"
#include "cuda/match/ad_census.hpp"
#include "cuda/match/cross_arms.hpp"
#include "cuda/match/transform.hpp"
#include "cuda/methods/packed_rows.hpp"
#include "cuda/optimize/scanline/scanline.hpp"
#include "cuda/optimize/winner/min_cost.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/surfaces.hpp"
#include "methods/stereo/pipeline_costs.hpp"

namespace recon::cuda {
namespace {

/// Counts the bytes requested from an arena.
class Count {
 public:
  template <class T>
  T* take(std::size_t count) {
    bytes_ += arena_bytes(count * sizeof(T));
    return nullptr;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

bool is_scanline(const PipelineOptions& pipeline) {
  return pipeline.optimizer == PipelineOptimizer::kScanline;
}

/// Bytes of scratch memory, without the cost volume.
std::size_t scratch_bytes(int width, int height, int planes, const PipelineOptions& pipeline) {
  const std::size_t scanline = is_scanline(pipeline) ? device_volume_bytes(width, planes, height) : 0;
  return std::max(scanline, aggregation_bytes(width, planes, height, pipeline.aggregation));
}

/// Max bytes of a view's volume and scratch memory for which both views have their own.
constexpr std::size_t kSmallVolume = std::size_t{128} << 20;

bool side_by_side(int width, int height, int planes, const PipelineOptions& pipeline) {
  return pipeline.refinement.left_right &&
         device_volume_bytes(width, planes, height) + scratch_bytes(width, height, planes, pipeline) <=
             kSmallVolume;
}

/// Allocates the buffers of a pipeline from `source`, an arena or a counter.
template <class Source>
PipelineStream::Buffers take_buffers(int width, int height, int planes, const PipelineOptions& pipeline,
                                     Source& source) {
  const PipelineRefinement& steps = pipeline.refinement;
  const std::size_t pixels = element_count({width, height});
  const bool crosses = pipeline.aggregation.kind == Aggregation::kCrossBased;
  PipelineStream::Buffers at{};
  at.tables = source.template take<float>(sizeof(CostTables) / sizeof(float));
  if (pipeline.cost == PipelineCost::kAdCensus) at.grey = source.template take<std::uint8_t>(pixels);
  for (int i = 0; i < 2; ++i) {
    at.colours[i] = source.template take<Rgb8>(pixels);
    if (pipeline.cost == PipelineCost::kAdCensus) at.census[i] = source.template take<std::uint64_t>(pixels);
    if (is_scanline(pipeline)) at.edges[i] = source.template take<std::uint8_t>(2 * pixels);
    if (crosses || (steps.vote && i == 0)) at.arms[i] = source.template take<Cross>(pixels);
  }
  for (int i = 0; i < 2; ++i) {
    const bool shared = i > 0 && !side_by_side(width, height, planes, pipeline);
    at.costs[i] =
        shared ? at.costs[0] : source.template take<float>(device_volume_floats(width, planes, height));
    at.scratch[i] = shared ? at.scratch[0]
                           : source.template take<std::byte>(scratch_bytes(width, height, planes, pipeline));
  }
  at.left = source.template take<float>(pixels);
  if (steps.edges || steps.median) at.spare = source.template take<float>(pixels);
  if (!steps.left_right) return at;
  at.right = source.template take<float>(pixels);
  at.outliers = source.template take<Outlier>(pixels);
  if (steps.vote) at.bins = source.template take<std::int16_t>(pixels);
  if (steps.vote || steps.interpolate)
    at.list = {source.template take<int>(pixels), source.template take<int>(1)};
  if (!steps.interpolate) return at;
  at.reliable = source.template take<float>(pixels);
  at.labels = source.template take<int>(pixels);
  at.sizes = source.template take<int>(pixels);
  at.strips = source.template take<int>(1);
  return at;
}

CostTables tables_of(const PipelineOptions& pipeline) {
  return pipeline.cost == PipelineCost::kAdCensus ? ad_census_tables(pipeline.ad_census)
                                                  : colour_difference_tables(pipeline.colour_cap);
}

/// Calls `mark` unless it is empty.
void report(const PipelineMark& mark, const char* step) {
  if (mark) mark(step);
}

}  // namespace

std::size_t PipelineStream::bytes(int width, int height, const PairOptions& options) {
  Count count;
  take_buffers(width, height, options.range.count, options.pipeline, count);
  return count.bytes();
}

PipelineStream::PipelineStream(int width, int height, const PairOptions& options, Arena& arena)
    : width_(width),
      height_(height),
      range_(options.range),
      options_(options.pipeline),
      tables_(tables_of(options.pipeline)),
      at_([&] {
        EXPECTS(runs_on_gpu(options.pipeline));
        arena.reset(bytes(width, height, options));
        return take_buffers(width, height, options.range.count, options.pipeline, arena);
      }()) {
  if (at_.costs[0] != at_.costs[1]) side_ = std::make_unique<Side>();
  const PipelineRefinement& steps = options_.refinement;
  EXPECTS(steps.left_right || (!steps.vote && !steps.interpolate));
  EXPECTS(options_.left_right >= 0.0f && options_.voting.iterations >= 0);
  EXPECTS(options_.voting.min_votes >= 0);
  EXPECTS(options_.voting.min_share >= 0.0f && options_.voting.min_share <= 1.0f);
}

void PipelineStream::upload(const ColourPair& images, PinnedBuffer& staging, const Stream& stream) const {
  const std::size_t bytes = element_count({width_, height_, sizeof(Rgb8)});
  reserve(staging, 2 * bytes + sizeof(CostTables));
  const auto send = [&](void* device, const std::byte* staged, std::size_t size) {
    RECON_CUDA_TRY(cudaMemcpyAsync(device, staged, size, cudaMemcpyHostToDevice, stream.get()));
  };
  std::byte* at = staging.data();
  std::memcpy(at, &tables_, sizeof(CostTables));
  send(at_.tables, at, sizeof(CostTables));
  at += sizeof(CostTables);
  for (int i = 0; i < 2; ++i, at += bytes) {
    pack_rows(i == 0 ? images.left : images.right, at);
    send(at_.colours[i], at, bytes);
  }
}

void PipelineStream::queue(const Stream& stream, const PipelineMark& mark) const {
  const PipelineRefinement& steps = options_.refinement;
  queue_images(stream.get());
  report(mark, "images");
  const DeviceVolume costs = match_both(stream, mark);
  if (steps.left_right) queue_repair(stream.get(), mark);
  queue_map_steps(costs, stream.get(), mark);
}

/// Derived images that later steps use instead of the colours.
void PipelineStream::queue_images(cudaStream_t stream) const {
  for (int i = 0; i < 2; ++i) {
    if (at_.census[i] != nullptr) {
      queue_grey(at_.colours[i], width_, height_, at_.grey, stream);
      const DeviceGrey grey{at_.grey, false, width_, width_, height_};
      launch_transform(grey, TransformOptions{Transform::kCensus9x7}, at_.census[i], stream);
    }
    if (at_.edges[i] != nullptr)
      queue_edges(at_.colours[i], width_, height_, options_.scanline.edge_threshold, at_.edges[i], stream);
    const DeviceColours colours{at_.colours[i], width_, width_, height_};
    if (at_.arms[i] != nullptr)
      queue_cross_arms(colours, options_.aggregation.cross, at_.arms[i], width_, stream);
  }
}

/// Computes the winners of both views, or of the left one if only that is required; returns the left view's
/// costs.
DeviceVolume PipelineStream::match_both(const Stream& stream, const PipelineMark& mark) const {
  if (!options_.refinement.left_right) return match(PairSide::kLeft, at_.left, stream.get(), mark);
  const bool meanwhile = side_ != nullptr && !mark;
  const Stream& aside = meanwhile ? side_->stream : stream;
  if (meanwhile) {
    side_->begins.record(stream);
    RECON_CUDA_TRY(cudaStreamWaitEvent(aside.get(), side_->begins.get(), 0));
  }
  match(PairSide::kRight, at_.right, aside.get(), mark);
  const DeviceVolume costs = match(PairSide::kLeft, at_.left, stream.get(), mark);
  if (meanwhile) {
    side_->ends.record(aside);
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream.get(), side_->ends.get(), 0));
  }
  return costs;
}

/// Computes the winners of a view; returns the costs that they were selected from.
DeviceVolume PipelineStream::match(PairSide side, float* disparity, cudaStream_t stream,
                                   const PipelineMark& mark) const {
  const int own = side == PairSide::kLeft ? 0 : 1, other = 1 - own, min = range_.min;
  const float* by_bits = at_.tables + kMaxChannelSum + 1;
  DeviceVolume costs = device_volume(at_.costs[own], width_, range_.count, height_);
  queue_colour_costs({at_.colours[own], at_.colours[other], at_.census[own], at_.census[other], at_.tables,
                      by_bits, side, min},
                     costs, stream);
  report(mark, "cost");
  if (options_.aggregation.kind != Aggregation::kNone) {
    costs = aggregate(side, costs, stream);
    report(mark, "aggregation");
  }
  if (is_scanline(options_)) {
    // In the buffer that the aggregation result does not occupy.
    float* given = at_.costs[own];
    float* apart = costs.data == given ? reinterpret_cast<float*>(at_.scratch[own]) : given;
    const DeviceVolume mean = device_volume(apart, width_, range_.count, height_);
    queue_scanlines(costs, {at_.edges[own], at_.edges[other], side, min}, options_.scanline, mean, stream);
    costs = mean;
    report(mark, "scanline");
  }
  queue_min_cost(costs, min, disparity, stream);
  report(mark, "winner");
  return costs;
}

/// Returns the aggregated costs, in the scratch memory or in the buffer of `costs`.
DeviceVolume PipelineStream::aggregate(PairSide side, const DeviceVolume& costs, cudaStream_t stream) const {
  const int own = side == PairSide::kLeft ? 0 : 1, min = range_.min;
  const ColourImages colours{at_.colours[own], at_.colours[1 - own], width_, side, min};
  const CrossImages arms{at_.arms[own], at_.arms[1 - own], width_, side, min};
  return queue_aggregation(colours, arms, options_.aggregation, max_cost(options_), costs, at_.scratch[own],
                           stream);
}

/// The left-right check, and the steps that fill its outliers or invalidate them.
void PipelineStream::queue_repair(cudaStream_t stream, const PipelineMark& mark) const {
  const PipelineRefinement& steps = options_.refinement;
  const LabelledMap map{at_.left, at_.outliers, at_.right, width_, height_, range_.min, range_.count};
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
  const PipelineRefinement& steps = options_.refinement;
  float *map = at_.left, *other = at_.spare;
  if (steps.edges) {
    queue_adjustment(map, costs, range_.min, other, stream);
    std::swap(map, other);
    report(mark, "edges");
  }
  if (steps.subpixel) {
    queue_enhancement(map, costs, range_.min, stream);
    report(mark, "subpixel");
  }
  if (steps.median) {
    launch_median_3x3(map, width_, height_, other, stream);
    report(mark, "median");
  }
}

const float* PipelineStream::result() const {
  const PipelineRefinement& steps = options_.refinement;
  return steps.edges == steps.median ? at_.left : at_.spare;
}

Image<float> PipelineStream::download(PinnedBuffer& staging, const Stream& stream) const {
  return download_map(result(), width_, height_, staging, stream);
}

}  // namespace recon::cuda
