#pragma once

#include "methods/method_spec.hpp"

/// The stages of all methods, in the order in which they run, on every device. A device has a switch over
/// them for labels, on the host HostStages and what derives from it, on a GPU BlockBuilder and
/// PairRefinement, and one for patches: where a stage that is added is missing there, it does not compile.

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

/// The part of a MethodSpec that a stage belongs to.
enum class Slot {
  kOtherView,  ///< all up to the optimizer, of the right view of a pair
  kCost,
  kAggregation,
  kOptimizer,
  kRefinement,
};

/// What a stage works on.
enum class Scope {
  kLabels,   ///< of a block of a view that is swept, or of a view of a pair; with patches at the coarsest
             ///< level
  kPatches,  ///< of a view, from the labels of its coarsest level
};

enum class StageId {
  kOtherView,
  kCosts,
  kAggregation,
  kLabels,
  kGraphCut,
  kCheck,
  kSurfaces,
  kVotes,
  kInterpolation,
  kInvalidation,
  kLabelEdges,
  kSubpixel,
  kMedian,
  kSmoothing,
  kPatches,
  kPrior,
  kPatchEdges,
};

struct StageRow {
  StageId id;
  const char* name;
  Slot slot;
  Scope scope;
  bool (*fits)(const MethodSpec& spec);  ///< whether a method has it; of labels that of the coarsest level
};

// For which methods.

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
constexpr bool leaves_outliers(const MethodSpec& spec) {
  return matches_other_view(spec) && !spec.refine.interpolate;
}
/// Sums have the sub-pixel part in their winners.
constexpr bool adds_subpixel(const MethodSpec& spec) {
  return spec.refine.subpixel && spec.judge == WinnerJudge::kOtherView;
}
template <bool Refinement::*kStep>
constexpr bool has(const MethodSpec& spec) {
  return spec.refine.*kStep;
}

inline constexpr StageRow kMethodStages[] = {
    {StageId::kOtherView, "other view", Slot::kOtherView, Scope::kLabels, matches_other_view},
    {StageId::kCosts, "costs", Slot::kCost, Scope::kLabels, stores_costs},
    {StageId::kAggregation, "aggregation", Slot::kAggregation, Scope::kLabels, aggregates},
    {StageId::kLabels, "labels", Slot::kOptimizer, Scope::kLabels, always},
    {StageId::kGraphCut, "graph cut", Slot::kOptimizer, Scope::kLabels, has_graph_cut},
    {StageId::kCheck, "check", Slot::kRefinement, Scope::kLabels, matches_other_view},
    {StageId::kSurfaces, "surfaces", Slot::kRefinement, Scope::kLabels, has<&Refinement::interpolate>},
    {StageId::kVotes, "votes", Slot::kRefinement, Scope::kLabels, has<&Refinement::vote>},
    {StageId::kInterpolation, "interpolation", Slot::kRefinement, Scope::kLabels,
     has<&Refinement::interpolate>},
    {StageId::kInvalidation, "invalidation", Slot::kRefinement, Scope::kLabels, leaves_outliers},
    {StageId::kLabelEdges, "edges", Slot::kRefinement, Scope::kLabels, has<&Refinement::label_edges>},
    {StageId::kSubpixel, "sub-pixel", Slot::kRefinement, Scope::kLabels, adds_subpixel},
    {StageId::kMedian, "median", Slot::kRefinement, Scope::kLabels, has<&Refinement::median>},
    {StageId::kSmoothing, "smoothing", Slot::kRefinement, Scope::kLabels,
     has<&Refinement::smooth_disparities>},
    {StageId::kPatches, "patches", Slot::kOptimizer, Scope::kPatches, has_patches},
    {StageId::kPrior, "prior", Slot::kRefinement, Scope::kPatches, has<&Refinement::prior>},
    {StageId::kPatchEdges, "edges", Slot::kRefinement, Scope::kPatches, has<&Refinement::patch_edges>}};

/// Calls `run(stage)` for the stages of a scope that a method has, in their order.
/// @param first  of the stages that are run
template <class Run>
void for_stages(const MethodSpec& spec, Scope scope, const Run& run, StageId first = StageId::kOtherView) {
  for (const StageRow& stage : kMethodStages)
    if (stage.scope == scope && stage.id >= first && stage.fits(spec)) run(stage);
}

}  // namespace recon
