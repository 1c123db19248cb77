#include "methods/sweep/sweep_stages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {
namespace {

/// Upper bound of one thread's rows, sums and winners for the largest tile and number of sources.
constexpr std::size_t kScratchBytes = std::size_t{2} << 20;
constexpr std::size_t kTableBytes = kHalfInfinityBits + 1;

Image<Rgb8> colours_of(const PosedImage& image) {
  Image<Rgb8> colours(image.camera.width, image.camera.height);
  const std::size_t green = image.channels == 3 ? 1 : 0, blue = image.channels == 3 ? 2 : 0;
  parallel_for(colours.height(), [&](int y) {
    for (int x = 0; x < colours.width(); ++x)
      colours(x, y) = {image.channel[0](x, y), image.channel[green](x, y), image.channel[blue](x, y)};
  });
  return colours;
}

bool is_whole(const SweepBlock& block) {
  return block.inner.width == block.outer.width && block.inner.height == block.outer.height;
}

}  // namespace

SweepStages::SweepStages(const SweepProblem& problem, const SweepBlock& block, const CpuSweep* sweep)
    : HostStages(problem, Hypotheses(problem.planes), cropped(problem.reference, block.outer).channel[0]),
      problem_(problem),
      block_(block),
      sweep_(sweep),
      reference_(cropped(problem.reference, block.outer)),
      cap_(cost_cap(problem.cost.kind)),
      results_(uninitialised_estimate(block.outer.width, block.outer.height)) {}

void SweepStages::put(DepthEstimate& view) {
  if (is_whole(block_)) {
    view = std::move(results_);
    return;
  }
  const auto& [x, y, width, height] = block_.inner;
  for (const auto map : {&DepthEstimate::depth, &DepthEstimate::cost, &DepthEstimate::confidence})
    for (int row = y; row < y + height && !memory_is_counted(); ++row)
      std::copy_n((results_.*map).row(row - block_.outer.y) + (x - block_.outer.x), width,
                  (view.*map).row(row) + x);
}

void SweepStages::by_tiles(const TileSink& sink) const {
  const auto bytes = [&](int threads) {
    const TileSize tile =
        sweep_tile_size(guide_.width, guide_.height, hypotheses_.count(), spec_.cost.window);
    return static_cast<std::size_t>(threads) * (tile.volume_bytes + kScratchBytes);
  };
  compute(bytes, [&] { sweep_by_tiles(*sweep_, sink); });
}

void SweepStages::fill(VolumeView<float> costs) const {
  by_tiles([&](const Tile& tile, VolumeView<const Half> volume) {
    for (int y = 0; y < tile.height; ++y)
      for (int d = 0; d < volume.planes; ++d) {
        const Half* row = volume.row(y, d);
        float* out = costs.row(tile.y + y, d) + tile.x;
        for (int x = 0; x < tile.width; ++x) out[x] = to_float(row[x]);
      }
  });
}

Volume<float> SweepStages::aggregated(Volume<float> costs) const {
  const AggregationOptions& by = spec_.aggregation;
  const Image<Rgb8> colours = colours_of(reference_);
  Image<Cross> arms;
  if (aggregator_of(by).guide == SupportGuide::kArms) arms = cross_arms(colours.view(), by.cross);
  return recon::aggregated(std::move(costs), {colours.view(), {}}, {arms.view(), {}}, by,
                           max_cost(spec_.cost));
}

std::ptrdiff_t SweepStages::code_at(int x, int y) const {
  return (std::ptrdiff_t{y} * guide_.width + x) * cost_stride(hypotheses_.count());
}

/// Quantizes and transposes the costs of a tile, one row of a group of planes at a time, so that source and
/// destination stay in the cache.
void SweepStages::quantize(const Tile& tile, VolumeView<const Half> costs, const std::uint8_t* table) {
  constexpr int kGroup = 64;
  const int planes = hypotheses_.count();
  const std::ptrdiff_t stride = cost_stride(planes);
  for (int y = 0; y < tile.height; ++y) {
    std::uint8_t* first = codes_.data() + code_at(tile.x, tile.y + y);
    for (int begin = 0; begin < planes; begin += kGroup) {
      for (int d = begin; d < std::min(begin + kGroup, planes); ++d) {
        const Half* row = costs.row(y, d);
        for (int x = 0; x < tile.width; ++x) first[x * stride + d] = table[row[x].bits];
      }
    }
    for (int x = 0; x < tile.width; ++x)
      std::fill(first + x * stride + planes, first + (x + 1) * stride, std::uint8_t{255});
  }
}

SemiGlobalProblem SweepStages::integer_costs() {
  SemiGlobalProblem paths;
  paths.max_cost = kInvalidQuantizedCost;
  if (cost_storage(spec_) == CostStorage::kFloats) {
    paths.costs = quantized_costs(std::as_const(costs_).view(),
                                  [cap = cap_](float cost) { return quantized_cost(cost, cap); });
    return paths;
  }
  codes_ = AlignedBuffer<std::uint8_t>(
      element_count({cost_stride(hypotheses_.count()), guide_.width, guide_.height}));
  AlignedBuffer<std::uint8_t> table(kTableBytes);  // by the bits of a half
  if (!memory_is_counted())
    for (std::size_t bits = 0; bits < kTableBytes; ++bits)
      table.data()[bits] = quantized_cost(to_float({static_cast<std::uint16_t>(bits)}), cap_);
  by_tiles([&](const Tile& tile, VolumeView<const Half> costs) { quantize(tile, costs, table.data()); });
  paths.stored_costs = codes_.data();
  return paths;
}

void SweepStages::select_by_tiles() {
  by_tiles([&](const Tile& tile, VolumeView<const Half> costs) {
    std::vector<Winner> winners(static_cast<std::size_t>(tile.width));
    for (int y = 0; y < tile.height; ++y) {
      winner_take_all(costs, y, winners.data());
      for (int x = 0; x < tile.width; ++x)
        store(tile.x + x, tile.y + y, winner_depth(winners[x], hypotheses_));
    }
  });
}

void SweepStages::store(int x, int y, const WinnerDepth& result) {
  results_.depth(x, y) = result.depth;
  results_.cost(x, y) = result.cost;
  results_.confidence(x, y) = result.confidence;
}

void SweepStages::take_winners(int y, const Winner* winners) {
  for (int x = 0; x < guide_.width; ++x) {
    store(x, y, winner_depth(winners[x], hypotheses_));
    set_label(x, y, winners[x].plane);
  }
}

void SweepStages::take_paths(int y, const PathWinner* winners, const std::uint16_t*) {
  const bool stored = cost_storage(spec_) == CostStorage::kFloats;
  for (int x = 0; x < guide_.width; ++x) {
    const int plane = winners[x].plane;
    const std::uint8_t code =
        stored ? quantized_cost(cost_at(x, y, plane), cap_) : codes_.data()[code_at(x, y) + plane];
    store(x, y, semi_global_depth(winners[x], code, cap_, hypotheses_));
    set_label(x, y, code < kInvalidQuantizedCost ? plane : -1);
  }
}

void SweepStages::take_labels() {
  const GraphCutOptions options = scaled_cut(spec_);
  parallel_for(guide_.height, [&](int y) {
    for (int x = 0; x < guide_.width; ++x) store(x, y, cut_depth(options, x, y));
  });
}

float SweepStages::cost_at(int x, int y, int plane) const {
  return plane >= 0 && plane < costs_.planes() ? costs_.view()(x, y, plane) : invalid_cost();
}

WinnerDepth SweepStages::cut_depth(const GraphCutOptions& options, int x, int y) const {
  const int label = labels_(x, y);
  if (label == kNoLabel) return winner_depth({-1, 0, 0, 0, 0}, hypotheses_);
  float own = invalid_cost(), second = invalid_cost();
  for (int d = 0; d < costs_.planes(); ++d) {
    const float energy = costs_.view()(x, y, d) + smoothness_at(options, x, y, d);
    if (d == label)
      own = energy;
    else if (std::abs(d - label) > 1)
      second = std::min(second, energy);
  }
  const Winner winner{label, cost_at(x, y, label), cost_at(x, y, label - 1), cost_at(x, y, label + 1),
                      second};
  WinnerDepth result = winner_depth(winner, hypotheses_);
  result.confidence = uniqueness({label, own, 0, 0, second});
  return result;
}

/// sum over the neighbours q of w_pq V(d, f_q).
float SweepStages::smoothness_at(const GraphCutOptions& options, int x, int y, int d) const {
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const int qx = x + kPathSteps[k].x, qy = y + kPathSteps[k].y;
    if (!guide_.contains(qx, qy) || labels_(qx, qy) == kNoLabel) continue;
    const int difference = std::abs(guide_(x, y) - guide_(qx, qy));
    sum += edge_smoothness(options.smoothness, options.edge_falloff, difference) *
           label_distance(d, labels_(qx, qy), options.smoothness_cap);
  }
  return sum;
}

void SweepStages::refine() {
  for_stages(kPlaneSteps, spec_.refine, [this](PlaneStep step) {
    switch (step) {
      case PlaneStep::kEdges:
        return move_edges();
    }
  });
}

void SweepStages::move_edges() {
  const Image<float> depths = results_.depth.clone();
  const auto depth_at = [&](int x, int y) { return depths.view().contains(x, y) ? depths(x, y) : kUnknown; };
  parallel_for(guide_.height, [&](int y) {
    for (int x = 0; x < guide_.width; ++x) {
      const WinnerDepth own{depths(x, y), results_.cost(x, y), results_.confidence(x, y)};
      const float beside[] = {depth_at(x - 1, y), depth_at(x + 1, y), depth_at(x, y - 1), depth_at(x, y + 1)};
      store(x, y, adjusted_depth(own, beside, problem_.planes, [&](int d) { return cost_at(x, y, d); }));
    }
  });
}

}  // namespace recon
