#pragma once

#include <cstddef>
#include <type_traits>

/// The steps after the optimizer: the flags of a method, the words of `--refine`, and the lists in which
/// devices run them. A step that is added has a flag, a word, and a value and a row of the list of what it
/// refines; each device has a switch over that list: where a case is missing, it does not compile.

namespace recon {

/// Which steps a method has.
struct Refinement {
  bool graph_cut = false;   ///< minimises the energy from the labels of the optimizer
  bool left_right = false;  ///< finds outliers; outliers that are not repaired become unknown
  bool vote = false;        ///< repairs outliers by region voting; needs left_right
  /// Repairs all other outliers; needs left_right. Before voting and interpolation, small surfaces become
  /// outliers and others are extended to the border: see invalidate_small_segments and extend_surfaces.
  bool interpolate = false;
  bool label_edges = false;  ///< moves edges to lower costs, see adjusted_depth and adjust_discontinuities
  bool subpixel = false;
  bool median = false;
  bool smooth_disparities = false;  ///< see smoothed_disparity
  bool smooth_patches = false;      ///< planes that patches agree on, see agreed_plane
  bool prior = false;               ///< of patches: the planar prior, see fill_supported_planes
  bool patch_edges = false;         ///< moves edges of patches to where colours change, see edge_state

  bool operator==(const Refinement&) const = default;
};

// What is refined; steps have a set of them.
inline constexpr unsigned kOfPairs = 1;    ///< disparities
inline constexpr unsigned kOfPlanes = 2;   ///< labels of a sweep
inline constexpr unsigned kOfPatches = 4;  ///< patches of a sweep, or the labels from which they begin
inline constexpr unsigned kOfSweeps = kOfPlanes | kOfPatches;

// What steps are, too.
inline constexpr unsigned kByDefault = 8;      ///< of a sweep, unless planes or stages are given
inline constexpr unsigned kNeedsCheck = 16;    ///< repairs what `left_right` finds
inline constexpr unsigned kNeedsCosts = 32;    ///< of all labels, so they have to be stored
inline constexpr unsigned kNeedsColours = 64;  ///< of the reference, see SweepProblem::colours

/// A word of `--refine`, and the step that it means for what is refined.
struct RefineStep {
  const char* word;
  bool Refinement::*flag;  ///< null: the patches themselves, which are an optimizer
  unsigned traits;
  const char* help = "";  ///< empty: the word says it

  /// Whether it has one of these traits.
  constexpr bool is(unsigned of) const { return (traits & of) != 0; }
  constexpr bool is_in(const Refinement& steps) const { return flag != nullptr && steps.*flag; }
};

/// In the order in which they are named; those of one word are neighbours.
inline constexpr RefineStep kRefineSteps[] = {
    {"graphcut", &Refinement::graph_cut, kOfPairs | kOfSweeps | kNeedsCosts, "lower the energy"},
    {"lr", &Refinement::left_right, kOfPairs, "check both views"},
    {"vote", &Refinement::vote, kOfPairs | kNeedsCheck, "repair what the check finds by votes of regions"},
    {"interpolate", &Refinement::interpolate, kOfPairs | kNeedsCheck,
     "repair the rest; else it becomes unknown"},
    {"edges", &Refinement::label_edges, kOfPairs | kOfPlanes | kNeedsCosts, "move edges to lower costs"},
    {"edges", &Refinement::patch_edges, kOfPatches | kByDefault | kNeedsColours,
     "of patches last, to where the colours have them; unknown where these cannot say"},
    {"subpixel", &Refinement::subpixel, kOfPairs},
    {"median", &Refinement::median, kOfPairs},
    {"patches", nullptr, kOfPatches | kByDefault, "sweep small images and refine slanted patches from there"},
    {"smooth", &Refinement::smooth_disparities, kOfPairs, "planes of the surfaces around"},
    {"smooth", &Refinement::smooth_patches, kOfPatches | kByDefault,
     "patches in the planes that those around agree on"},
    {"prior", &Refinement::prior, kOfPatches | kByDefault,
     "after patches, where texture is weak: planes through reliable pixels around"}};

/// Whether a refinement has a step with one of these traits.
constexpr bool has_step(const Refinement& steps, unsigned traits) {
  bool found = false;
  for (const RefineStep& step : kRefineSteps) found |= step.is(traits) && step.is_in(steps);
  return found;
}

/// A stage of a list, in the order in which they run.
template <class Id, class Of>
struct StageRow {
  Id id;
  bool (*fits)(const Of& of);  ///< whether a method, or a refinement, has it
};

/// Calls `run(id)` for the stages of a list that `of` has, in their order.
/// @param first  of the stages that are run
template <class Id, class Of, std::size_t kCount, class Run>
void for_stages(const StageRow<Id, Of> (&stages)[kCount], const std::type_identity_t<Of>& of, const Run& run,
                Id first = {}) {
  for (const auto& stage : stages)
    if (stage.id >= first && stage.fits(of)) run(stage.id);
}

template <bool Refinement::*kFlag>
constexpr bool has(const Refinement& steps) {
  return steps.*kFlag;
}
constexpr bool leaves_outliers(const Refinement& steps) {
  return steps.left_right && !steps.interpolate;
}

/// The disparities of a pair.
enum class PairStep {
  kCheck,
  kSurfaces,
  kVotes,
  kInterpolation,
  kInvalidation,
  kEdges,
  kSubpixel,
  kMedian,
  kSmoothing,
};
inline constexpr StageRow<PairStep, Refinement> kPairSteps[] = {
    {PairStep::kCheck, has<&Refinement::left_right>},
    {PairStep::kSurfaces, has<&Refinement::interpolate>},
    {PairStep::kVotes, has<&Refinement::vote>},
    {PairStep::kInterpolation, has<&Refinement::interpolate>},
    {PairStep::kInvalidation, leaves_outliers},
    {PairStep::kEdges, has<&Refinement::label_edges>},
    {PairStep::kSubpixel, has<&Refinement::subpixel>},
    {PairStep::kMedian, has<&Refinement::median>},
    {PairStep::kSmoothing, has<&Refinement::smooth_disparities>}};

/// The depths of a block of a view that is swept.
enum class PlaneStep { kEdges };
inline constexpr StageRow<PlaneStep, Refinement> kPlaneSteps[] = {
    {PlaneStep::kEdges, has<&Refinement::label_edges>}};

/// The patches of a view. `smooth_patches` is a part of their iterations.
enum class PatchStep { kPrior, kEdges };
inline constexpr StageRow<PatchStep, Refinement> kPatchSteps[] = {
    {PatchStep::kPrior, has<&Refinement::prior>}, {PatchStep::kEdges, has<&Refinement::patch_edges>}};

}  // namespace recon
