#pragma once

#include <cstddef>

#include "aggregate/aggregation.hpp"
#include "match/cost_options.hpp"
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
};

/// The steps after the optimizer, in the order in which they run.
struct Refinement {
  bool patches = false;  ///< sweeps the coarsest level only and refines slanted patches from there
  bool smooth = false;   ///< planes that pixels agree on: of patches, see agreed_plane; of disparities after
                         ///< the median, see smoothed_disparity
  bool prior = false;    ///< after the patches: the planar prior, see fill_supported_planes
  bool graph_cut = false;   ///< minimises the energy from the result of the optimizer
  bool left_right = false;  ///< finds outliers; outliers that are not repaired become unknown
  bool vote = false;        ///< repairs outliers by region voting; needs left_right
  /// Repairs all other outliers; needs left_right. Before voting and interpolation, small surfaces become
  /// outliers and others are extended to the border: see invalidate_small_segments and extend_surfaces.
  bool interpolate = false;
  /// Moves edges to lower costs, see adjusted_depth and adjust_discontinuities; those of patches to
  /// where colours change, see edge_state.
  bool edges = false;
  bool subpixel = false;
  bool median = false;

  bool operator==(const Refinement&) const = default;
};

/// Methods for rectified pairs that do all their stages in one, without a volume of costs. Each is tested
/// equal to the list of stages that it stands for.
enum class WholeMethod {
  kNone,               ///< the stages run one after the other
  kSemiGlobal,         ///< [transform | none | semi-global], both views' winners from the same sums
  kBlockMatching,      ///< [SAD or SSD | constant window | winner], see BlockMatchingOptions
  kBeliefPropagation,  ///< [truncated difference | none | belief propagation], see BeliefOptions
};

/// A method: what is compared, how costs are aggregated, what chooses among the labels, and the steps after
/// it, with the options of each. The defaults are those of a sweep. Penalties are in the unit of the costs:
/// bits, ranks, grey levels, hundredths of AD-Census, or codes of a sweep (see quantized_cost).
struct MethodSpec {
  WholeMethod whole = WholeMethod::kNone;
  CostOptions cost;
  AggregationOptions aggregation;
  Optimizer optimizer = Optimizer::kWinnerTakeAll;
  SemiGlobalOptions semi_global{8, 5, 120, 6};
  ScanlineOptions scanline;
  /// For the optimizer or the step; the costs of a sweep are scaled to 0 .. 126, see quantized_cost.
  GraphCutOptions graph_cut;
  Refinement refine;
  PatchMatchOptions patch_match;
  float left_right = 0.0f;  ///< max difference between both views' disparities, pixels
  VotingOptions voting;
  int uniqueness = 0;          ///< of WholeMethod::kSemiGlobal, see WinnerChecks
  BlockMatchingOptions block;  ///< of WholeMethod::kBlockMatching
  BeliefOptions belief;        ///< of WholeMethod::kBeliefPropagation
  /// Max bytes of the costs of a block of a view, one per sample: larger views are divided into blocks, see
  /// sweep_blocks.
  std::size_t block_bytes = std::size_t{256} << 20;
};

/// Whether a stage is a graph cut, which the CPU computes.
constexpr bool has_graph_cut(const MethodSpec& spec) {
  return spec.optimizer == Optimizer::kGraphCut || spec.refine.graph_cut;
}

/// Whether depth edges are looked for in the colours of the reference, see SweepProblem::colours.
constexpr bool compares_colours(const MethodSpec& spec) {
  return spec.refine.patches && spec.refine.edges;
}

/// Whether a sweep needs stored costs.
constexpr bool needs_volume(const MethodSpec& spec) {
  return has_graph_cut(spec) || (spec.refine.edges && !spec.refine.patches) ||
         spec.aggregation.kind != Aggregation::kNone;
}

/// Why the stages do not belong together, or not to what the labels stand for; null where they do.
/// @param depths  whether the labels are planes of a sweep; else disparities of a pair
const char* contradiction(const MethodSpec& spec, bool depths);

/// @throws std::logic_error where there is a contradiction
void check(const MethodSpec& spec, bool depths);

}  // namespace recon
