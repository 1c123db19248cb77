#include "methods/sweep/volume_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "methods/sweep/edge_depth_step.hpp"
#include "methods/sweep/semi_global_depth.hpp"
#include "methods/sweep/sweep_blocks.hpp"
#include "methods/sweep/sweep_tiles.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon {
namespace {

/// Quantized costs of a stored volume.
class CodedCosts : public CostSource {
 public:
  CodedCosts(VolumeView<const float> costs, float cap) : costs_(costs), cap_(cap) {}

  int max_cost() const override { return kInvalidCode; }

  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const override {
    for (int d = 0; d < costs_.planes; ++d) {
      const float* row = costs_.row(y, d) + first;
      for (int i = 0; i < count; ++i) costs[i * stride + d] = quantized_cost(row[i], cap_);
    }
  }

  std::uint8_t code(int x, int y, int plane) const { return quantized_cost(costs_(x, y, plane), cap_); }

 private:
  VolumeView<const float> costs_;
  float cap_;
};

Image<Rgb8> colours_of(const PosedImage& image) {
  Image<Rgb8> colours(image.camera.width, image.camera.height);
  const std::size_t green = image.channels == 3 ? 1 : 0, blue = image.channels == 3 ? 2 : 0;
  parallel_for(colours.height(), [&](int y) {
    for (int x = 0; x < colours.width(); ++x)
      colours(x, y) = {image.channel[0](x, y), image.channel[green](x, y), image.channel[blue](x, y)};
  });
  return colours;
}

/// The stages after aggregation for a block of the view.
class BlockSweep {
 public:
  BlockSweep(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs)
      : problem_(problem),
        guide_(reference.channel[0]),
        cap_(cost_cap(problem.options.cost)),
        costs_(std::move(costs)),
        results_{Image<float>(guide_.width, guide_.height), Image<float>(guide_.width, guide_.height),
                 Image<float>(guide_.width, guide_.height)} {}

  /// Computes depth, cost and confidence of every pixel of the block.
  DepthEstimate run() {
    const bool cut = problem_.stages.graph_cut || problem_.optimizer == SweepOptimizer::kGraphCut;
    if (cut) labels_ = Image<std::uint16_t>(guide_.width, guide_.height);
    if (problem_.optimizer == SweepOptimizer::kSemiGlobal)
      follow_paths();
    else
      take_winners();
    if (cut) cut_labels();
    if (problem_.stages.edges) move_edges();
    return std::move(results_);
  }

 private:
  void store(int x, int y, const WinnerDepth& result) {
    results_.depth(x, y) = result.depth;
    results_.cost(x, y) = result.cost;
    results_.confidence(x, y) = result.confidence;
  }

  void set_label(int x, int y, int plane, bool seen) {
    if (!labels_.empty()) labels_(x, y) = seen ? static_cast<std::uint16_t>(plane) : kNoPlane;
  }

  void follow_paths() {
    const CodedCosts codes(costs_.view(), cap_);
    SemiGlobalProblem paths;
    paths.costs = &codes;
    paths.planes = costs_.planes();
    paths.guide = guide_;
    paths.options = problem_.paths.penalties;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
      for (int x = 0; x < guide_.width; ++x) {
        const std::uint8_t code = codes.code(x, y, winners[x].plane);
        store(x, y, semi_global_depth(winners[x], code, cap_, problem_.planes));
        set_label(x, y, winners[x].plane, code < kInvalidCode);
      }
    });
  }

  void take_winners() {
    const VolumeView<const float> costs = costs_.view();
    parallel_for(costs.height, [&](int y) {
      std::vector<WinnerScan> scans(static_cast<std::size_t>(costs.width));
      for (WinnerScan& scan : scans) scan.clear();
      for (int d = 0; d < costs.planes; ++d) {
        const float* row = costs.row(y, d);
        for (int x = 0; x < costs.width; ++x) scans[static_cast<std::size_t>(x)].push(row[x]);
      }
      for (int x = 0; x < costs.width; ++x) {
        const Winner& winner = scans[static_cast<std::size_t>(x)].winner;
        store(x, y, winner_depth(winner, problem_.planes));
        set_label(x, y, winner.plane, winner.plane >= 0);
      }
    });
  }

  /// Truncates costs at the cap, as for the semi-global paths.
  void cap_costs() {
    const VolumeView<float> costs = costs_.view();
    parallel_for(costs.height, [&](int y) {
      for (int d = 0; d < costs.planes; ++d) {
        float* row = costs.row(y, d);
        for (int x = 0; x < costs.width; ++x)
          row[x] = row[x] < invalid_cost() ? std::min(row[x], cap_) : row[x];
      }
    });
  }

  void cut_labels() {
    cap_costs();
    GraphCutOptions options = problem_.stages.cut;
    options.smoothness *= cap_ / (kInvalidCode - 1);
    graph_cut(costs_.view(), guide_, options, labels_.view());
    parallel_for(guide_.height, [&](int y) {
      for (int x = 0; x < guide_.width; ++x) store(x, y, cut_depth(options, x, y));
    });
  }

  float cost_at(int x, int y, int plane) const {
    return plane >= 0 && plane < costs_.planes() ? costs_.view()(x, y, plane) : invalid_cost();
  }

  WinnerDepth cut_depth(const GraphCutOptions& options, int x, int y) const {
    const int label = labels_(x, y);
    if (label == kNoPlane) return winner_depth({-1, 0, 0, 0, 0}, problem_.planes);
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
    WinnerDepth result = winner_depth(winner, problem_.planes);
    result.confidence = uniqueness({label, own, 0, 0, second});
    return result;
  }

  /// sum over the neighbours q of w_pq V(d, f_q).
  float smoothness_at(const GraphCutOptions& options, int x, int y, int d) const {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
      const int qx = x + kPathSteps[k].x, qy = y + kPathSteps[k].y;
      if (!guide_.contains(qx, qy) || labels_(qx, qy) == kNoPlane) continue;
      const int difference = std::abs(guide_(x, y) - guide_(qx, qy));
      sum += edge_smoothness(options.smoothness, options.edge_falloff, difference) *
             label_distance(d, labels_(qx, qy), options.smoothness_cap);
    }
    return sum;
  }

  void move_edges() {
    const Image<float> depths = results_.depth.clone();
    const auto depth_at = [&](int x, int y) {
      return depths.view().contains(x, y) ? depths(x, y) : std::nanf("");
    };
    parallel_for(guide_.height, [&](int y) {
      for (int x = 0; x < guide_.width; ++x) {
        const WinnerDepth own{depths(x, y), results_.cost(x, y), results_.confidence(x, y)};
        const float beside[] = {depth_at(x - 1, y), depth_at(x + 1, y), depth_at(x, y - 1),
                                depth_at(x, y + 1)};
        store(x, y, adjusted_depth(own, beside, problem_.planes, [&](int d) { return cost_at(x, y, d); }));
      }
    });
  }

  const SweepProblem& problem_;
  ImageView<const std::uint8_t> guide_;
  float cap_;
  Volume<float> costs_;
  DepthEstimate results_;
  Image<std::uint16_t> labels_;  ///< labels of the graph cut
};

Volume<float> block_costs(const CpuSweep& sweep) {
  Volume<float> costs(sweep.reference.camera.width, sweep.planes.count, sweep.reference.camera.height);
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> volume) {
    for (int y = 0; y < tile.height; ++y)
      for (int d = 0; d < volume.planes; ++d) {
        const Half* row = volume.row(y, d);
        float* out = costs.view().row(tile.y + y, d) + tile.x;
        for (int x = 0; x < tile.width; ++x) out[x] = to_float(row[x]);
      }
  });
  return costs;
}

Volume<float> aggregated_costs(const SweepProblem& problem, const PosedImage& reference,
                               Volume<float> costs) {
  const AggregationOptions& by = problem.stages.aggregation;
  if (by.kind == Aggregation::kNone) return costs;
  const Image<Rgb8> colours = colours_of(reference);
  Image<Cross> arms;
  if (by.kind == Aggregation::kCrossBased) arms = cross_arms(colours.view(), by.cross);
  return aggregated(std::move(costs), {colours.view(), {}}, {arms.view(), {}}, by,
                    max_cost(problem.options.cost));
}

}  // namespace

DepthEstimate volume_sweep(const SweepProblem& problem) {
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  CpuSweep sweep = prepare_cpu_sweep(problem.reference, problem.sources, problem.planes, problem.options);
  DepthEstimate estimate{Image<float>(width, height), Image<float>(width, height),
                         Image<float>(width, height)};
  for (const SweepBlock& block : volume_blocks(width, height, problem.planes.count, problem.paths)) {
    const PosedImage reference = cropped(problem.reference, block.outer);
    change_reference(sweep, reference, problem.sources);
    keep_inner(block,
               optimized_block(problem, reference, aggregated_costs(problem, reference, block_costs(sweep))),
               estimate);
  }
  return estimate;
}

void keep_inner(const SweepBlock& block, const DepthEstimate& from, DepthEstimate& to) {
  for (int y = block.inner.y; y < block.inner.y + block.inner.height; ++y)
    for (int x = block.inner.x; x < block.inner.x + block.inner.width; ++x) {
      const int i = x - block.outer.x, j = y - block.outer.y;
      to.depth(x, y) = from.depth(i, j);
      to.cost(x, y) = from.cost(i, j);
      to.confidence(x, y) = from.confidence(i, j);
    }
}

DepthEstimate optimized_block(const SweepProblem& problem, const PosedImage& reference, Volume<float> costs) {
  return BlockSweep(problem, reference, std::move(costs)).run();
}

std::size_t optimized_block_bytes(const SweepShape& shape, const Tile& block, int threads) {
  const std::size_t pixels = element_count({std::ptrdiff_t{block.width} + 64, block.height});
  std::size_t optimizing = element_count({threads, block.width, sizeof(WinnerScan)});
  if (shape.optimizer == SweepOptimizer::kSemiGlobal)
    optimizing += semi_global_bytes(block.width, block.height, shape.planes, shape.paths.penalties,
                                    kInvalidCode, threads);
  if (shape.optimizer == SweepOptimizer::kGraphCut || shape.stages.graph_cut)
    optimizing = std::max(optimizing, graph_cut_bytes(block.width, block.height, shape.stages.cut, threads));
  constexpr std::size_t kResultBytes = 4 * sizeof(float) + sizeof(std::uint16_t);  // a copy and the labels
  return pixels * kResultBytes + optimizing;
}

std::size_t volume_sweep_bytes(const SweepShape& shape, int threads) {
  const Tile block = largest_block(volume_blocks(shape.width, shape.height, shape.planes, shape.paths));
  const std::size_t pixels = element_count({std::ptrdiff_t{block.width} + 64, block.height});
  const std::size_t aggregating =
      aggregation_bytes(block.width, block.height, shape.planes, shape.stages.aggregation, threads);
  return pixels * (sizeof(Rgb8) + sizeof(Cross)) +
         Volume<float>::bytes(block.width, shape.planes, block.height) +
         std::max(aggregating, optimized_block_bytes(shape, block, threads));
}

}  // namespace recon
