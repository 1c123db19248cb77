#include "methods/method_spec.hpp"

#include <stdexcept>

#include "core/error.hpp"

namespace recon {
namespace {

std::string contradiction_of_steps(const MethodSpec& spec) {
  for (const RefineStep& step : kRefineSteps) {
    if (!step.is_in(spec.refine)) continue;
    if (!step.is(refined_by(spec)))
      return std::string("the step ") + step.word + " does not refine " +
             (has_patches(spec)          ? "patches"
              : is_swept(spec.cost.kind) ? "planes without patches"
                                         : "disparities");
    if (step.is(kNeedsCheck) && !spec.refine.left_right)
      return "what the check of both views finds is repaired: it is missing";
  }
  return {};
}

std::string contradiction_of_sweep(const MethodSpec& spec) {
  if (!is_swept(spec.cost.kind)) return "the cost is one of pairs";
  if (spec.judge == WinnerJudge::kSums) return "a sweep has no second view to check";
  if (label_optimizer(spec) == Optimizer::kScanline) return "scanlines are followed through pairs only";
  if (label_optimizer(spec) == Optimizer::kBelief) return "beliefs are propagated in pairs only";
  if (label_optimizer(spec) == Optimizer::kPatches) return "patches begin from labels";
  if (has_patches(spec) && spec.cost.kind != CostKind::kZncc) return "patches are compared by ZNCC";
  return contradiction_of_steps(spec);
}

struct FusedRow {
  FusedStages stages;
  CostKind cost;
  Aggregation aggregation;
  Optimizer optimizer;
  WinnerJudge judge;
  bool refined;  ///< may have steps, but those for which it stores too little
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

std::string contradiction_of_pair(const MethodSpec& spec) {
  if (is_swept(spec.cost.kind)) return "the cost is one of sweeps";
  if (has_patches(spec)) return "patches belong to a sweep";
  if (std::string reason = contradiction_of_steps(spec); !reason.empty()) return reason;
  if (needs_fused_stages(spec) && !fused_stages(spec))
    return "block matching, belief propagation and checks by the sums of paths go with no other stages";
  return {};
}

}  // namespace

std::optional<FusedStages> fused_stages(const MethodSpec& spec) {
  for (const FusedRow& row : kFused)
    if (spec.cost.kind == row.cost && spec.aggregation.kind == row.aggregation &&
        spec.optimizer == row.optimizer && spec.judge == row.judge &&
        (row.refined ? !has_step(spec.refine, kNeedsCosts | kNeedsCheck) : spec.refine == Refinement{}))
      return row.stages;
  return std::nullopt;
}

std::string contradiction(const MethodSpec& spec, bool depths) {
  return depths ? contradiction_of_sweep(spec) : contradiction_of_pair(spec);
}

void check(const MethodSpec& spec, bool depths) {
  if (const std::string reason = contradiction(spec, depths); !reason.empty())
    throw std::logic_error("stages do not belong together: " + reason);
}

}  // namespace recon
