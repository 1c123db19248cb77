#include "methods/host_stages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {

namespace {

/// Truncates the costs of a sweep at their cap, as for the semi-global paths.
void cap_costs(VolumeView<float> costs, float cap) {
  parallel_for(costs.height, [&](int y) {
    for (int d = 0; d < costs.planes; ++d) {
      float* row = costs.row(y, d);
      for (int x = 0; x < costs.width; ++x) row[x] = row[x] < invalid_cost() ? std::min(row[x], cap) : row[x];
    }
  });
}

}  // namespace

void HostStages::run_from(LabelStage first) {
  const auto run_stage = [this](LabelStage stage) {
    switch (stage) {
      case LabelStage::kOtherView:
        return match_other_view();
      case LabelStage::kCosts:
        return compute_costs();
      case LabelStage::kAggregation:
        costs_ = aggregated(std::move(costs_));
        return;
      case LabelStage::kLabels:
        return optimize();
      case LabelStage::kGraphCut:
        return cut();
    }
  };
  for_stages(kLabelStages, spec_, run_stage, first);
  refine();
}

void HostStages::run() {
  run_from(LabelStage::kOtherView);
}

void HostStages::run_on(Volume<float> costs) {
  costs_ = std::move(costs);
  run_from(LabelStage::kLabels);
}

void HostStages::compute_costs() {
  costs_ = Volume<float>(guide_.width, hypotheses_.count(), guide_.height);
  fill(costs_.view());
}

void HostStages::optimize() {
  if (has_graph_cut(spec_)) labels_ = Image<std::uint16_t>(guide_.width, guide_.height);
  if (cost_storage(spec_) == CostStorage::kNone) return select_by_tiles();
  if (spec_.optimizer == Optimizer::kSemiGlobal) return follow_paths();
  if (spec_.optimizer == Optimizer::kScanline) costs_ = along_scanlines(std::move(costs_));
  select_winners();
}

void HostStages::follow_paths() {
  SemiGlobalProblem paths = integer_costs();
  paths.planes = hypotheses_.count();
  paths.guide = guide_;
  paths.options = spec_.semi_global;
  semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t* right_planes) {
    take_paths(y, winners, right_planes);
  });
}

void HostStages::select_winners() {
  const VolumeView<const float> costs = std::as_const(costs_).view();
  const auto bytes = [&](int threads) { return element_count({threads, costs.width, sizeof(Winner)}); };
  compute(bytes, [&] {
    parallel_for(costs.height, [&](int y) {
      std::vector<Winner> winners(static_cast<std::size_t>(costs.width));
      winner_take_all(costs, y, winners.data());
      take_winners(y, winners.data());
    });
  });
}

void HostStages::cut() {
  cut_labels(spec_, costs_.view(), guide_, labels_.view());
  take_labels();
}

GraphCutOptions scaled_cut(const MethodSpec& spec) {
  GraphCutOptions options = spec.graph_cut;
  if (is_swept(spec.cost.kind)) options.smoothness *= cost_cap(spec.cost.kind) / (kInvalidQuantizedCost - 1);
  return options;
}

void cut_labels(const MethodSpec& spec, VolumeView<float> costs, ImageView<const std::uint8_t> guide,
                ImageView<std::uint16_t> labels) {
  if (is_swept(spec.cost.kind)) cap_costs(costs, cost_cap(spec.cost.kind));
  graph_cut(costs, guide, scaled_cut(spec), labels);
}

}  // namespace recon
