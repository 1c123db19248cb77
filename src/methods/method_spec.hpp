#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "aggregate/aggregation.hpp"
#include "match/cost_options.hpp"
#include "methods/refinement.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "optimize/belief/belief_layout.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/patch_match/patch_match_step.hpp"
#include "optimize/scanline/scanline_step.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "refine/outliers.hpp"

namespace recon {

/// What chooses among the labels of a pixel.
enum class Optimizer {
  kWinnerTakeAll,  ///< each pixel independently
  kSemiGlobal,     ///< with smoothness along paths through the image, costs rounded to integers
  kScanline,       ///< with smoothness along four paths, of floats; pairs only
  kGraphCut,       ///< with smoothness, by minimisation of the energy of all pixels
  kBelief,         ///< with smoothness, by messages between neighbours at several sizes; pairs only
  kPatches,        ///< slanted patches, refined level by level from labels of the coarsest; sweeps only
};

/// What judges the winners of a pair: `left_right` compares them with those of the other view.
enum class WinnerJudge {
  kOtherView,  ///< which is matched on its own
  kSums,       ///< of semi-global paths, which have winners of the other view, too; see WinnerChecks
};

/// A method: what is compared, how costs are aggregated, what chooses among the labels, and the steps after
/// it, with the options of each. The defaults are those of a sweep. Penalties are in the unit of the costs:
/// bits, ranks, grey levels, hundredths of AD-Census, or codes of a sweep (see quantized_cost).
struct MethodSpec {
  CostOptions cost;
  AggregationOptions aggregation;
  Optimizer optimizer = Optimizer::kWinnerTakeAll;
  /// Of Optimizer::kPatches: what chooses among the labels of the coarsest level, from which patches begin.
  Optimizer coarsest = Optimizer::kSemiGlobal;
  SemiGlobalOptions semi_global{8, 5, 120, 6};
  ScanlineOptions scanline;
  /// For the optimizer or the step; the costs of a sweep are scaled to 0 .. 126, see quantized_cost.
  GraphCutOptions graph_cut;
  Refinement refine;
  PatchMatchOptions patch_match;
  WinnerJudge judge = WinnerJudge::kOtherView;
  float left_right = 0.0f;  ///< max difference between both views' disparities, pixels
  VotingOptions voting;
  int uniqueness = 0;          ///< of WinnerJudge::kSums, see WinnerChecks
  BlockMatchingOptions block;  ///< of CostKind::kBlockDifference: the cost, its window and its winner
  BeliefOptions belief;        ///< of Optimizer::kBelief, with those of its cost
  /// Max bytes of the costs of a block of a view, one per sample: larger views are divided into blocks, see
  /// sweep_blocks.
  std::size_t block_bytes = std::size_t{256} << 20;
};

/// Whether a sweep refines slanted patches.
constexpr bool has_patches(const MethodSpec& spec) {
  return spec.optimizer == Optimizer::kPatches;
}

/// What chooses among labels: the optimizer, or with patches that of the coarsest level.
/// @param spec  const, or to be changed
template <class Spec>
constexpr auto& label_optimizer(Spec& spec) {
  return has_patches(spec) ? spec.coarsest : spec.optimizer;
}

/// Lets patches begin from the labels that are chosen, or not.
constexpr void set_patches(MethodSpec& spec, bool patches) {
  spec.coarsest = label_optimizer(spec);
  spec.optimizer = patches ? Optimizer::kPatches : spec.coarsest;
}

/// What is refined after the labels, see kOfPairs.
constexpr unsigned refined_by(const MethodSpec& spec) {
  if (!is_swept(spec.cost.kind)) return kOfPairs;
  return has_patches(spec) ? kOfPatches : kOfPlanes;
}

/// The method of the coarsest level of patches; others are as they are.
constexpr MethodSpec coarsest_method(MethodSpec spec) {
  spec.optimizer = label_optimizer(spec);
  for (const RefineStep& step : kRefineSteps)
    if (!step.is(kOfPlanes) && step.flag != nullptr) spec.refine.*step.flag = false;
  return spec;
}

/// Whether a stage is a graph cut, which the CPU computes.
constexpr bool has_graph_cut(const MethodSpec& spec) {
  return label_optimizer(spec) == Optimizer::kGraphCut || spec.refine.graph_cut;
}

/// Whether a sweep needs stored costs.
constexpr bool needs_volume(const MethodSpec& spec) {
  return has_graph_cut(spec) || has_step(spec.refine, kNeedsCosts) ||
         spec.aggregation.kind != Aggregation::kNone;
}

/// Lists of stages for pairs that a device runs as one, without a volume of floats. Each is tested equal to
/// its stages one by one.
enum class FusedStages {
  kBlocks,   ///< [difference | constant window | winner] by rolling windows, see BlockMatchingOptions
  kPaths,    ///< [transform | none | semi-global], both views' winners from the same sums
  kBeliefs,  ///< [truncated difference | none | belief propagation], see BeliefOptions
};

/// Those that a method is; nothing where its stages run one by one.
std::optional<FusedStages> fused_stages(const MethodSpec& spec);

/// Why the stages do not belong together, or not to what the labels stand for; empty where they do.
/// @param depths  whether the labels are planes of a sweep; else disparities of a pair
std::string contradiction(const MethodSpec& spec, bool depths);

/// @throws std::logic_error where there is a contradiction
void check(const MethodSpec& spec, bool depths);

}  // namespace recon
