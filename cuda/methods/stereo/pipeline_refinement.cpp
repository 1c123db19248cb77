#include <utility>

#include "cuda/methods/stereo/pipeline_views.hpp"
#include "cuda/refine/cost_refinement.hpp"
#include "cuda/refine/surfaces.hpp"

namespace recon::cuda {
namespace {

/// Adds the left-right check, and the steps that fill its outliers or invalidate them.
void add_repair(const LabelledMap& map, const MethodSpec& options, const PipelineImages& images, Arena& arena,
                std::vector<PairStage>& stages) {
  const Refinement& steps = options.refine;
  const auto pixels = static_cast<std::size_t>(map.pixels());
  stages.push_back({"check", [=, tolerance = options.left_right](StageRun& run) {
                      queue_left_right_check(map, tolerance, run.get());
                    }});
  if (steps.interpolate) {
    const SurfaceScratch scratch{arena.take<float>(pixels), arena.take<int>(pixels), arena.take<int>(pixels),
                                 arena.take<int>(1)};
    stages.push_back({"surfaces", [=](StageRun& run) { queue_surfaces(map, scratch, run.get()); }});
  }
  OutlierList list{};
  if (steps.vote || steps.interpolate) {
    list = {arena.take<int>(pixels), arena.take<int>(1)};
    stages.push_back({"list", [=](StageRun& run) { queue_outlier_list(map, list, run.get()); }});
  }
  if (steps.vote) {
    const VotingOptions& voting = options.voting;
    const RegionVote vote{images.arms[0], arena.take<std::int16_t>(pixels), voting.min_votes,
                          voting.min_share, voting.iterations};
    stages.push_back({"vote", [=](StageRun& run) { queue_votes(map, list, vote, run.get()); }});
  }
  if (steps.interpolate)
    stages.push_back({"interpolate", [=, image = images.colours[0]](StageRun& run) {
                        queue_interpolation(map, list, image, run.get());
                      }});
  else
    stages.push_back({"invalidate", [=](StageRun& run) { queue_invalidate(map, run.get()); }});
}

}  // namespace

void add_refinement(const PairShape& shape, const PairSpec& options, const PipelineImages& images,
                    const PipelineMaps& maps, Arena& arena, PairStages& stages) {
  const MethodSpec& pipeline = options;
  const Refinement& steps = pipeline.refine;
  const int width = shape.width, height = shape.height, min = options.range.min;
  float *map = maps.left, *other = nullptr;
  if (steps.left_right) {
    const LabelledMap labelled{
        maps.left, arena.take<Outlier>(shape.pixels()), maps.right, width, height, min, options.range.count};
    add_repair(labelled, pipeline, images, arena, stages.refinement);
  }
  if (steps.edges || steps.median || steps.smooth) other = arena.take<float>(shape.pixels());
  if (steps.edges) {
    stages.refinement.push_back(
        {"edges", [=](StageRun& run) { queue_adjustment(map, run.costs, min, other, run.get()); }});
    std::swap(map, other);
  }
  if (steps.subpixel)
    stages.refinement.push_back(
        {"subpixel",
         [=, subpixel = maps.subpixel, paths = pipeline.optimizer == Optimizer::kSemiGlobal](StageRun& run) {
           if (paths)
             queue_take_subpixel(subpixel, map, width, height, run.get());
           else
             queue_enhancement(map, run.costs, min, run.get());
         }});
  stages.finish(map, other, shape, options);
}

}  // namespace recon::cuda
