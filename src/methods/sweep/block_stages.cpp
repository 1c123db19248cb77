#include "methods/sweep/block_stages.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "methods/sweep/depth_step.hpp"
#include "methods/sweep/view_sweep.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"

namespace recon {
namespace {

/// The stages after aggregation for a block of the view.
class BlockSweep {
 public:
  BlockSweep(const SweepProblem& problem, ImageView<const std::uint8_t> guide, Volume<float> costs)
      : problem_(problem),
        guide_(guide),
        cap_(cost_cap(problem.cost.kind)),
        costs_(std::move(costs)),
        results_(uninitialised_estimate(guide_.width, guide_.height)) {}

  /// Computes depth, cost and confidence of every pixel of the block.
  DepthEstimate run() {
    const bool cut = has_graph_cut(problem_);
    if (cut) labels_ = Image<std::uint16_t>(guide_.width, guide_.height);
    if (problem_.optimizer == Optimizer::kSemiGlobal)
      select_by_paths();
    else
      take_winners();
    if (cut) cut_labels();
    if (problem_.refine.edges) move_edges();
    return std::move(results_);
  }

 private:
  void store(int x, int y, const WinnerDepth& result) {
    results_.depth(x, y) = result.depth;
    results_.cost(x, y) = result.cost;
    results_.confidence(x, y) = result.confidence;
  }

  /// @param plane  -1: no source sees the pixel
  void set_label(int x, int y, int plane) {
    if (!labels_.empty()) labels_(x, y) = plane < 0 ? kNoLabel : static_cast<std::uint16_t>(plane);
  }

  void select_by_paths() {
    SemiGlobalProblem paths;
    const VolumeView<const float> costs = costs_.view();
    const auto quantize = [cap = cap_](float cost) { return quantized_cost(cost, cap); };
    paths.costs = quantized_costs(costs, quantize);
    paths.guide = guide_;
    follow_paths(
        problem_, paths, [&](int x, int y, int d) { return quantize(costs(x, y, d)); },
        [&](int x, int y, int plane, const WinnerDepth& result) {
          store(x, y, result);
          set_label(x, y, plane);
        });
  }

  void take_winners() {
    const VolumeView<const float> costs = costs_.view();
    parallel_for(costs.height, [&](int y) {
      std::vector<WinnerScan> scans(costs.width);
      for (WinnerScan& scan : scans) scan.clear();
      for (int d = 0; d < costs.planes; ++d) {
        const float* row = costs.row(y, d);
        for (int x = 0; x < costs.width; ++x) scans[x].push(row[x]);
      }
      for (int x = 0; x < costs.width; ++x) {
        const Winner& winner = scans[x].winner;
        store(x, y, winner_depth(winner, problem_.planes));
        set_label(x, y, winner.plane);
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
    GraphCutOptions options = problem_.graph_cut;
    options.smoothness *= cap_ / (kInvalidQuantizedCost - 1);
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
    if (label == kNoLabel) return winner_depth({-1, 0, 0, 0, 0}, problem_.planes);
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
      if (!guide_.contains(qx, qy) || labels_(qx, qy) == kNoLabel) continue;
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

}  // namespace

void optimize_block(const SweepProblem& problem, const SweepBlock& block, Volume<float> costs,
                    DepthEstimate& view) {
  const ImageView<const std::uint8_t> guide = cropped(problem.reference, block.outer).channel[0];
  const DepthEstimate results = BlockSweep(problem, guide, std::move(costs)).run();
  const auto& [x, y, width, height] = block.inner;
  for (const auto map : {&DepthEstimate::depth, &DepthEstimate::cost, &DepthEstimate::confidence})
    for (int row = y; row < y + height; ++row)
      std::copy_n((results.*map).row(row - block.outer.y) + (x - block.outer.x), width,
                  (view.*map).row(row) + x);
}

std::size_t optimize_block_bytes(const SweepShape& shape, const Tile& block, int threads) {
  const std::size_t pixels = element_count({std::ptrdiff_t{block.width} + 64, block.height});
  std::size_t optimizing = element_count({threads, block.width, sizeof(WinnerScan)});
  if (shape.optimizer == Optimizer::kSemiGlobal)
    optimizing += semi_global_bytes(block.width, block.height, shape.planes, shape.semi_global,
                                    kInvalidQuantizedCost, false, threads);
  if (has_graph_cut(shape))
    optimizing = std::max(optimizing, graph_cut_bytes(block.width, block.height, shape.graph_cut, threads));
  constexpr std::size_t kResultBytes = 4 * sizeof(float) + sizeof(std::uint16_t);  // a copy and the labels
  return pixels * kResultBytes + optimizing;
}

}  // namespace recon
