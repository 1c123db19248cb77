#include "methods/host_stages.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/parallel.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/semi_global/quantized_cost_step.hpp"
#include "optimize/winner/winner_take_all.hpp"

namespace recon {

/// A stage, and whether a method has it.
struct HostStages::Stage {
  bool (*belongs)(const MethodSpec& spec);
  Run run;
};

namespace {

bool stores_costs(const MethodSpec& spec) {
  return cost_storage(spec) == CostStorage::kFloats;
}

bool checks_views(const MethodSpec& spec) {
  return spec.whole == WholeMethod::kNone && spec.refine.left_right;
}

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

const HostStages::Stage HostStages::kStages[] = {
    {checks_views, &HostStages::match_other_view},
    {stores_costs, &HostStages::compute_costs},
    {[](const MethodSpec& spec) { return spec.aggregation.kind != Aggregation::kNone; },
     &HostStages::aggregate},
    {[](const MethodSpec&) { return true; }, &HostStages::optimize},
    {has_graph_cut, &HostStages::cut},
    {checks_views, &HostStages::check_views},
    {[](const MethodSpec& spec) { return spec.refine.interpolate; }, &HostStages::mark_surfaces},
    {[](const MethodSpec& spec) { return spec.refine.vote; }, &HostStages::vote},
    {[](const MethodSpec& spec) { return spec.refine.interpolate; }, &HostStages::interpolate},
    {[](const MethodSpec& spec) { return checks_views(spec) && !spec.refine.interpolate; },
     &HostStages::invalidate},
    {[](const MethodSpec& spec) { return spec.refine.edges; }, &HostStages::move_edges},
    {[](const MethodSpec& spec) { return spec.refine.subpixel && spec.whole == WholeMethod::kNone; },
     &HostStages::add_subpixel},
    {[](const MethodSpec& spec) { return spec.refine.median; }, &HostStages::filter_by_median},
    {[](const MethodSpec& spec) { return spec.refine.smooth; }, &HostStages::smooth}};

void HostStages::run_from(Run first) {
  const auto is_first = [&](const Stage& stage) { return stage.run == first; };
  for (auto it = std::find_if(std::begin(kStages), std::end(kStages), is_first); it != std::end(kStages);
       ++it)
    if (it->belongs(spec_)) (this->*it->run)();
}

void HostStages::run() {
  run_from(kStages[0].run);
}

void HostStages::run_on(Volume<float> costs) {
  costs_ = std::move(costs);
  run_from(&HostStages::optimize);
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
  const auto bytes = [&](int threads) {
    return semi_global_bytes(guide_.width, guide_.height, paths.planes, paths.options, paths.max_cost,
                             paths.stored_costs != nullptr, threads);
  };
  compute(bytes, [&] {
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t* right_planes) {
      take_paths(y, winners, right_planes);
    });
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
  const auto bytes = [&](int threads) {
    return graph_cut_bytes(guide.width, guide.height, spec.graph_cut, threads);
  };
  if (is_swept(spec.cost.kind)) cap_costs(costs, cost_cap(spec.cost.kind));
  compute(bytes, [&] { graph_cut(costs, guide, scaled_cut(spec), labels); });
}

}  // namespace recon
