#include <utility>

#include "cuda/methods/stereo/pipeline_views.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/median.hpp"

namespace recon::cuda {

PairRefinement::PairRefinement(const PairShape& shape, const PairSpec& options, const PipelineImages& images,
                               const PipelineMaps& maps, Arena& arena, PairStages& stages)
    : shape_(shape),
      options_(options),
      images_(images),
      maps_(maps),
      arena_(arena),
      stages_(stages),
      map_(maps.left) {}

float* PairRefinement::add_steps() {
  for_stages(kPairSteps, steps_after_labels(options_), [this](PairStep step) { add(step); });
  return map_;
}

void PairRefinement::add(PairStep step) {
  const int width = shape_.width, height = shape_.height, min = options_.range.min;
  switch (step) {
    case PairStep::kCheck:
      labelled_ = {maps_.left, take<Outlier>(), maps_.right, width, height, min, options_.range.count};
      return push("check", [map = labelled_, tolerance = options_.left_right](StageRun& run) {
        queue_left_right_check(map, tolerance, run.get());
      });
    case PairStep::kSurfaces: {
      const SurfaceScratch scratch{take<float>(), take<int>(), take<int>(), arena_.take<int>(1)};
      return push("surfaces",
                  [=, map = labelled_](StageRun& run) { queue_surfaces(map, scratch, run.get()); });
    }
    case PairStep::kVotes:
      return add_votes();
    case PairStep::kInterpolation:
      list_outliers();
      return push("interpolate", [map = labelled_, list = *list_, image = images_.colours[0]](StageRun& run) {
        queue_interpolation(map, list, image, run.get());
      });
    case PairStep::kInvalidation:
      return push("invalidate", [map = labelled_](StageRun& run) { queue_invalidate(map, run.get()); });
    case PairStep::kEdges:
      push("edges", [=, from = map_, to = other()](StageRun& run) {
        queue_adjustment(from, run.costs, min, to, run.get());
      });
      return std::swap(map_, other_);
    case PairStep::kSubpixel:
      return push("subpixel", [=, subpixel = maps_.subpixel, map = map_](StageRun& run) {
        if (subpixel != nullptr)
          queue_take_subpixel(subpixel, map, width, height, run.get());
        else
          queue_enhancement(map, run.costs, min, run.get());
      });
    case PairStep::kMedian:
      push("median", [=, from = map_, to = other()](StageRun& run) {
        launch_median_3x3(from, width, height, to, run.get());
      });
      return std::swap(map_, other_);
    case PairStep::kSmoothing:
      push("smooth", [=, from = map_, to = other(), bounds = disparity_bounds(min, options_.range.count)](
                         StageRun& run) { launch_smoothing(from, width, height, bounds, to, run.get()); });
      return std::swap(map_, other_);
  }
}

void PairRefinement::add_votes() {
  list_outliers();
  const VotingOptions& voting = options_.voting;
  const RegionVote vote{images_.arms[0], take<std::int16_t>(), voting.min_votes, voting.min_share,
                        voting.iterations};
  push("vote",
       [=, map = labelled_, list = *list_](StageRun& run) { queue_votes(map, list, vote, run.get()); });
}

/// Lists the outliers for the first of the stages that go through them.
void PairRefinement::list_outliers() {
  if (list_) return;
  list_ = OutlierList{take<int>(), arena_.take<int>(1)};
  push("list", [map = labelled_, list = *list_](StageRun& run) { queue_outlier_list(map, list, run.get()); });
}

float* PairRefinement::other() {
  if (!std::exchange(has_other_, true)) other_ = take<float>();
  return other_;
}

}  // namespace recon::cuda
