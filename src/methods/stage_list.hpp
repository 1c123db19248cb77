#pragma once

#include "methods/method_spec.hpp"

/// The stages of all methods, in the order in which they run, on every device: first those of the labels,
/// with patches at the coarsest level, then the steps of a refinement (refinement.hpp). A device has a switch
/// over each list: where a stage that is added is missing there, it does not compile.

namespace recon {

/// How the costs of a block are stored.
enum class CostStorage {
  kNone,    ///< not at all: winners are selected tile by tile
  kBytes,   ///< as integers, for the semi-global optimizer
  kFloats,  ///< for the stages that need a volume
};

constexpr CostStorage cost_storage(const MethodSpec& spec) {
  if (spec.judge == WinnerJudge::kSums) return CostStorage::kBytes;
  if (!is_swept(spec.cost.kind) || needs_volume(spec)) return CostStorage::kFloats;
  return label_optimizer(spec) == Optimizer::kSemiGlobal ? CostStorage::kBytes : CostStorage::kNone;
}

/// The stages up to the labels, of a block of a view that is swept or of a view of a pair. A refinement
/// follows, see refinement.hpp.
enum class LabelStage {
  kOtherView,  ///< all of these, of the right view of a pair
  kCosts,
  kAggregation,
  kLabels,
  kGraphCut,
};

constexpr bool matches_other_view(const MethodSpec& spec) {
  return spec.judge == WinnerJudge::kOtherView && spec.refine.left_right;
}
constexpr bool stores_costs(const MethodSpec& spec) {
  return cost_storage(spec) == CostStorage::kFloats;
}
constexpr bool aggregates(const MethodSpec& spec) {
  return spec.aggregation.kind != Aggregation::kNone;
}
constexpr bool always(const MethodSpec&) {
  return true;
}

inline constexpr StageRow<LabelStage, MethodSpec> kLabelStages[] = {
    {LabelStage::kOtherView, matches_other_view},
    {LabelStage::kCosts, stores_costs},
    {LabelStage::kAggregation, aggregates},
    {LabelStage::kLabels, always},
    {LabelStage::kGraphCut, has_graph_cut}};

/// The steps that follow the labels: sums have the check and the sub-pixel part in their winners.
constexpr Refinement steps_after_labels(const MethodSpec& spec) {
  Refinement steps = spec.refine;
  if (spec.judge == WinnerJudge::kSums) steps.left_right = steps.subpixel = false;
  return steps;
}

}  // namespace recon
