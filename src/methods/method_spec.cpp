#include "methods/method_spec.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace recon {
namespace {

const char* contradiction_without_patches(const Refinement& steps) {
  if (steps.prior) return "the planar prior needs patches";
  if (steps.smooth_patches) return "smooth surfaces of a sweep need patches";
  if (steps.patch_edges) return "edges are moved to where colours change with patches only";
  return nullptr;
}

const char* contradiction_of_sweep(const MethodSpec& spec) {
  const Refinement& steps = spec.refine;
  if (!is_swept(spec.cost.kind)) return "the cost is one of pairs";
  if (spec.judge == WinnerJudge::kSums) return "a sweep has no second view to check";
  if (label_optimizer(spec) == Optimizer::kScanline) return "scanlines are followed through pairs only";
  if (label_optimizer(spec) == Optimizer::kBelief) return "beliefs are propagated in pairs only";
  if (label_optimizer(spec) == Optimizer::kPatches) return "patches begin from labels";
  if (steps.left_right || steps.vote || steps.interpolate) return "a sweep has no second view to check";
  if (steps.subpixel || steps.median || steps.smooth_disparities)
    return "a sweep interpolates between planes itself";
  if (!has_patches(spec)) return contradiction_without_patches(steps);
  if (steps.label_edges) return "edges of patches are moved to where colours change";
  if (spec.cost.kind != CostKind::kZncc) return "patches are compared by ZNCC";
  return nullptr;
}

/// Whether no more is done with costs and labels than in a fused form of the stages.
bool has_plain_steps(const Refinement& steps) {
  return !steps.graph_cut && !steps.vote && !steps.interpolate && !steps.label_edges;
}

struct FusedRow {
  FusedStages stages;
  CostKind cost;
  Aggregation aggregation;
  Optimizer optimizer;
  WinnerJudge judge;
  bool refined;  ///< may have the steps of has_plain_steps
};

constexpr FusedRow kFused[] = {
    {FusedStages::kBlocks, CostKind::kBlockDifference, Aggregation::kConstantWindow,
     Optimizer::kWinnerTakeAll, WinnerJudge::kOtherView, false},
    {FusedStages::kPaths, CostKind::kTransform, Aggregation::kNone, Optimizer::kSemiGlobal,
     WinnerJudge::kSums, true},
    {FusedStages::kBeliefs, CostKind::kTruncatedDifference, Aggregation::kNone, Optimizer::kBelief,
     WinnerJudge::kOtherView, false}};

/// Whether a stage is there in fused form only.
bool needs_fused_stages(const MethodSpec& spec) {
  const CostKind cost = spec.cost.kind;
  return cost == CostKind::kBlockDifference || cost == CostKind::kTruncatedDifference ||
         spec.optimizer == Optimizer::kBelief || spec.judge == WinnerJudge::kSums;
}

const char* contradiction_of_pair(const MethodSpec& spec) {
  const Refinement& steps = spec.refine;
  if (is_swept(spec.cost.kind)) return "the cost is one of sweeps";
  if (has_patches(spec) || contradiction_without_patches(steps) != nullptr)
    return "patches and their steps belong to a sweep";
  if (fused_stages(spec)) return nullptr;
  if (needs_fused_stages(spec))
    return "block matching, belief propagation and checks by the sums of paths go with no other stages";
  if (!steps.left_right && (steps.vote || steps.interpolate))
    return "what the check of both views finds is repaired: it is missing";
  return nullptr;
}

}  // namespace

std::optional<FusedStages> fused_stages(const MethodSpec& spec) {
  for (const FusedRow& row : kFused)
    if (spec.cost.kind == row.cost && spec.aggregation.kind == row.aggregation &&
        spec.optimizer == row.optimizer && spec.judge == row.judge &&
        (row.refined ? has_plain_steps(spec.refine) : spec.refine == Refinement{}))
      return row.stages;
  return std::nullopt;
}

const char* contradiction(const MethodSpec& spec, bool depths) {
  return depths ? contradiction_of_sweep(spec) : contradiction_of_pair(spec);
}

void check(const MethodSpec& spec, bool depths) {
  if (const char* reason = contradiction(spec, depths))
    throw std::logic_error(std::string("stages do not belong together: ") + reason);
}

}  // namespace recon
