#include "predict/stage_work.hpp"

#include <algorithm>

#include "match/cpu_sweep.hpp"
#include "match/posed_image.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "methods/sweep/coarse_to_fine.hpp"
#include "methods/sweep/sweep_blocks.hpp"
#include "optimize/belief/belief_layout.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "predict/parallel_work.hpp"

namespace recon {
namespace {

double area(double width, double height) {
  return width * height;
}

/// (2 R + 1)^2 windows about all pixels of a line or a column, clipped to it.
double clipped_window(double length, double radius) {
  const double reach = std::min(radius, length - 1);
  return length * (2 * reach + 1) - reach * (reach + 1);
}

double all_windows(double width, double height, double radius) {
  return clipped_window(width, radius) * clipped_window(height, radius);
}

std::string number(int value) {
  return std::to_string(value);
}

std::string aggregation_name(const AggregationOptions& options) {
  switch (options.kind) {
    case Aggregation::kConstantWindow:
      return "cw";
    case Aggregation::kAdaptiveWeight:
      return "aw";
    case Aggregation::kCrossBased:
      return "cross" + number(options.cross_based.iterations);
    default:
      return "none";
  }
}

int aggregation_radius(const AggregationOptions& options) {
  switch (options.kind) {
    case Aggregation::kConstantWindow:
      return options.constant_radius;
    case Aggregation::kAdaptiveWeight:
      return options.adaptive_weight.radius;
    case Aggregation::kCrossBased:
      return options.cross.reach;
    default:
      return 0;
  }
}

StageWork adaptive_weight_work(int width, int height, double planes, int radius, int threads) {
  StageWork work;
  work.pixels = 2 * area(width, height);
  if (threads == 0) {
    const double windows = all_windows(width, height, radius);
    work.operations = planes * windows;
    work.bytes = 8 * windows;
    return work;
  }
  // Rows have every neighbour to their left and right; a vector of floats at a time.
  constexpr int kLanes = 16;
  const double lanes = (width + kLanes - 1) / kLanes * kLanes, side = 2 * radius + 1;
  const double rows = shared_evenly(clipped_window(height, radius), height, threads);
  work.operations = planes * lanes * side * rows;
  work.hidden = planes * lanes * rows;
  work.bytes = 8 * lanes * side * rows;
  return work;
}

/// What an aggregation adds to the work of a stage.
StageWork aggregation_work(int width, int height, int planes, const AggregationOptions& options,
                           int threads) {
  const double samples = area(width, height) * planes;
  StageWork work;
  if (options.kind == Aggregation::kConstantWindow) {
    work.operations = samples;
    work.bytes = 16 * samples;
  } else if (options.kind == Aggregation::kAdaptiveWeight) {
    return adaptive_weight_work(width, height, planes, options.adaptive_weight.radius, threads);
  } else if (options.kind == Aggregation::kCrossBased) {
    const double iterations = options.cross_based.iterations;
    work.operations = 2 * iterations * (threads > 0 ? shared_evenly(samples, planes, threads) : samples);
    work.bytes = 16 * samples * iterations;
    work.pixels = 2 * area(width, height);
  }
  return work;
}

/// Warped samples of one source, one channel and one plane of a part of the reference.
double warped(int width, int height, const SweepShape& shape, int threads) {
  if (threads == 0) return area(width, height);
  const TileSize tile = sweep_tile_size(width, height, shape.planes, shape.options.window);
  const int columns = (width + tile.width - 1) / tile.width, rows = (height + tile.height - 1) / tile.height;
  const double halo = shape.options.window - 1;
  return area(width + columns * halo, height + rows * halo) +
         0.5 * (threads - 1) * area(tile.width + halo, tile.height + halo);
}

/// Cost and combination of a sweep, which decide what a sample takes.
std::string sweep_name(const SweepShape& shape) {
  const SweepOptions& options = shape.options;
  std::string name = options.cost == CostKind::kZncc ? "sweep zncc" : "sweep sad";
  if (shape.channels == 3) name += " colour";
  const char* combinations[] = {" minimum", " mean", " best"};
  name += combinations[static_cast<int>(options.combination)];
  if (options.combination == Combination::kBestK) name += number(options.best_k);
  const char* optimizers[] = {" winner", " paths", " graphcut"};
  name += optimizers[static_cast<int>(shape.optimizer)];
  if (shape.optimizer == SweepOptimizer::kSemiGlobal) name += number(shape.paths.penalties.paths);
  if (!needs_volume(shape.optimizer, shape.stages)) return name;
  const AggregationOptions& by = shape.stages.aggregation;
  name += " " + aggregation_name(by) + number(aggregation_radius(by));
  const GraphCutOptions& cut = shape.stages.cut;
  if (shape.stages.graph_cut || shape.optimizer == SweepOptimizer::kGraphCut)
    name += " cut" + number(cut.best) + "," + number(cut.reach) + "," + number(cut.passes);
  if (shape.stages.edges) name += " edges";
  return name;
}

/// Samples and bytes of all blocks of a sweep.
void count_blocks(const SweepShape& shape, double per_sample, int threads, StageWork& work) {
  const bool stored = needs_volume(shape.optimizer, shape.stages);
  for (const SweepBlock& block : blocks_of(shape)) {
    const Tile& tile = block.outer;
    const double pixels = area(tile.width, tile.height);
    work.operations += per_sample * warped(tile.width, tile.height, shape, threads);
    work.bytes += 4 * pixels * shape.planes;
    if (shape.optimizer == SweepOptimizer::kSemiGlobal)
      work.bytes += 7 * pixels * plane_lanes(shape.planes, threads);
    if (!stored) continue;
    work.bytes +=
        8 * pixels * shape.planes +
        aggregation_work(tile.width, tile.height, shape.planes, shape.stages.aggregation, threads).bytes;
  }
}

/// Samples of the patches that the passes over all levels compare, see patch_match.
double patch_samples(const SweepShape& shape) {
  const PatchMatchOptions& options = shape.stages.patch_match;
  const double best = std::min(options.best_k, shape.sources), side = 2 * options.radius + 1;
  const int improved = options.iterations * (kRegions + kPerturbations);
  SweepShape level = shape;
  double evaluations = 0;
  for (int& i = level.stages.patch_match.levels = 0; i <= options.levels; ++i) {
    const SweepShape halved = coarsest_shape(level);
    // At every choice of sources the own plane in all and in the best ones; other planes in the best ones.
    const int choices = std::max(1, options.iterations);
    const int others = improved + (i < options.levels ? kCoarserPlanes : 0);
    evaluations += area(halved.width, halved.height) * (choices * (shape.sources + best) + best * others);
  }
  return side * side * evaluations;
}

StageTask task_of(std::string stage, int radius, double pixels, double planes) {
  StageTask task;
  task.stage = std::move(stage);
  task.radius = radius;
  task.pixels = pixels;
  task.planes = planes;
  task.work.calls = 1;
  return task;
}

/// Hypotheses that the registers of a GPU hold.
constexpr int kMostPacked = 512;

/// Hypotheses that the search of a block works on.
double block_lanes(const BlockMatchingOptions& block, int planes, int threads) {
  if (threads == 0) return planes * block.steps_per_pixel > kMostPacked ? planes : plane_lanes(planes, 0);
  const int lanes = sums_fit_16_bits(block) ? 32 : 16;  // of 64 bytes
  return (planes + lanes - 1) / lanes * lanes;
}

StageTask block_task(double pixels, const PairOptions& options, int threads) {
  const BlockMatchingOptions& block = options.block;
  const bool many = threads == 0 && options.range.count * block.steps_per_pixel > kMostPacked;
  const std::string name = std::string("bm ") + (block.cost == BlockCost::kSad ? "sad" : "ssd") +
                           (block.prefilter == BlockPrefilter::kSobel ? " sobel" : "") + " steps" +
                           number(block.steps_per_pixel) + " levels" + number(block.pyramid_levels) +
                           (block.left_right >= 0 ? " checked" : "") + (many ? " many" : "");
  if (block.region.width > 0) pixels = area(block.region.width, block.region.height);
  StageTask task = task_of(name, block.radius, pixels, options.range.count);
  double level = pixels;
  int planes = options.range.count;
  for (int i = 0; i < block.pyramid_levels; ++i, level /= 4, planes = (planes + 1) / 2)
    task.work.operations += level * block_lanes(block, planes, threads) * block.steps_per_pixel;
  task.work.pixels = 2 * pixels;
  return task;
}

StageTask semi_global_task(int width, int height, const PairOptions& options, int threads) {
  const double pixels = area(width, height);
  const SemiGlobalPairOptions& sgm = options.semi_global;
  StageTask task = task_of("sgm transform" + number(static_cast<int>(sgm.transform.transform)) + " paths" +
                               number(sgm.optimizer.paths) + (sgm.left_right >= 0 ? " checked" : "") +
                               (max_pair_cost(sgm) + sgm.optimizer.p2 <= 255 ? "" : " wide"),
                           sgm.transform.transform == Transform::kRank ? sgm.transform.rank_window / 2 : 0,
                           pixels, options.range.count);
  if (threads > 0)
    task.work.operations =
        path_work(width, height, options.range.count, sgm.optimizer, max_pair_cost(sgm), threads);
  else
    task.work.bytes = 7 * pixels * plane_lanes(options.range.count, 0);
  task.work.pixels = 2 * pixels;
  return task;
}

StageTask belief_task(int width, int height, const PairOptions& options, int threads) {
  const BeliefOptions& belief = options.belief;
  const double pixels = area(width, height), planes = options.range.count;
  StageTask task =
      task_of("bp levels" + number(belief.levels) + " iterations" + number(belief.iterations) + " storage" +
                  number(static_cast<int>(belief.storage)) + (belief.smoothing_sigma > 0 ? " blurred" : ""),
              0, pixels, planes);
  task.work.pixels = 2 * pixels;
  if (threads > 0) {
    task.work.operations = belief_work(width, height, options.range.count, belief, threads);
    task.work.bytes = planes * task.work.operations;
    return task;
  }
  double levels = 0;
  for (int i = 0, w = width, h = height; i < belief.levels; ++i, w = (w + 1) / 2, h = (h + 1) / 2)
    levels += area(w, h);
  task.work.operations = 4 * belief.iterations * planes * levels;
  task.work.bytes = planes * pixels * static_cast<double>(belief_storage_bytes(belief.storage));
  return task;
}

std::string refinement_name(const PipelineRefinement& refinement) {
  const auto& [cut, check, vote, interpolate, edges, subpixel, median] = refinement;
  std::string bits;
  for (const bool bit : {cut, check, vote, interpolate, edges, subpixel, median}) bits += bit ? '1' : '0';
  return bits;
}

StageTask pipeline_task(int width, int height, const PairOptions& options, int threads) {
  const PipelineOptions& pipeline = options.pipeline;
  const double pixels = area(width, height), planes = options.range.count;
  const AggregationOptions& by = pipeline.aggregation;
  StageTask task = task_of(
      "pipeline cost" + number(static_cast<int>(pipeline.cost)) + " " + aggregation_name(by) + " optimizer" +
          number(static_cast<int>(pipeline.optimizer)) + " refine" + refinement_name(pipeline.refinement),
      aggregation_radius(by), pixels, planes);
  // Both views, where their winners are compared.
  const double views = pipeline.refinement.left_right ? 2 : 1,
               paths = pipeline.optimizer == PipelineOptimizer::kScanline ? 4 : pipeline.semi_global.paths;
  const StageWork aggregation = aggregation_work(width, height, options.range.count, by, threads);
  task.counts_radius = by.kind == Aggregation::kAdaptiveWeight;
  task.work.pixels = 2 * pixels + views * aggregation.pixels;
  task.work.operations = views * aggregation.operations;
  task.work.hidden = views * aggregation.hidden;
  task.work.bytes =
      views * (8 * pixels * planes + aggregation.bytes +
               (pipeline.optimizer == PipelineOptimizer::kWinnerTakeAll ? 0 : 8 * paths * pixels * planes));
  return task;
}

/// @param task  the sweep of the coarsest level
StageTask patches_task(const SweepShape& shape, StageTask task) {
  const PatchMatchOptions& options = shape.stages.patch_match;
  task.stage +=
      " patches" + number(options.radius) + "," + number(options.best_k) + "," + number(options.iterations);
  task.pixels = area(shape.width, shape.height);
  task.sources = shape.sources;
  task.work.pixels = 0;
  task.work.patches = patch_samples(shape);
  return task;
}

}  // namespace

StageTask sweep_task(const SweepShape& shape, double seen, int threads) {
  if (shape.stages.patches) return patches_task(shape, sweep_task(coarsest_shape(shape), seen, threads));
  const double pixels = area(shape.width, shape.height), channels = shape.sources * shape.channels;
  StageTask task = task_of(sweep_name(shape), shape.options.window / 2, pixels, shape.planes);
  task.sources = shape.sources;
  task.work.pixels = pixels + channels * area(shape.source_width, shape.source_height);
  const double per_sample = channels * shape.planes;
  count_blocks(shape, per_sample, threads, task.work);
  const double inside = std::clamp(seen, 0.0, 1.0);
  task.work.hidden = task.work.operations * (1 - inside);
  task.work.operations *= inside;
  return task;
}

double plane_lanes(int planes, int threads) {
  if (threads > 0) return static_cast<double>(cost_stride(planes));
  double lanes = 64;
  while (lanes < planes) lanes *= 2;
  return lanes;
}

StageTask pair_task(int width, int height, const PairOptions& options, int threads) {
  switch (options.method) {
    case PairMethod::kBlockMatching:
      return block_task(area(width, height), options, threads);
    case PairMethod::kSemiGlobal:
      return semi_global_task(width, height, options, threads);
    case PairMethod::kBeliefPropagation:
      return belief_task(width, height, options, threads);
    default:
      return pipeline_task(width, height, options, threads);
  }
}

StageTask task_of(const SweepProblem& problem, int threads) {
  const double seen = seen_share(problem.stages.patches ? coarsest_sweep(problem) : problem);
  return sweep_task(sweep_shape(problem), seen, threads);
}

StageTask task_of(const PairProblem& problem, int threads) {
  return pair_task(problem.images.left.width, problem.images.left.height, problem.options, threads);
}

double seen_share(const SweepProblem& problem) {
  constexpr int kColumns = 12, kRows = 12, kPlanes = 16;
  const Pinhole& camera = problem.reference.camera;
  long long seen = 0, all = 0;
  for (const PosedImage& source : problem.sources) {
    const SourceWarp warp =
        make_source_warp(camera, problem.reference.cam_from_world, source.camera, source.cam_from_world);
    for (int k = 0; k < kPlanes; ++k) {
      const float plane =
          static_cast<float>(problem.planes.count - 1) * static_cast<float>(k) / (kPlanes - 1);
      for (int j = 0; j < kRows; ++j) {
        const RowWarp row =
            row_warp(warp, inverse_depth(problem.planes, plane), (2 * j + 1) * camera.height / (2 * kRows));
        for (int i = 0; i < kColumns; ++i, ++all)
          seen += sample_position(row, (2 * i + 1) * camera.width / (2 * kColumns), source.camera.width,
                                  source.camera.height)
                      .inside;
      }
    }
  }
  return all == 0 ? 0 : static_cast<double>(seen) / static_cast<double>(all);
}

}  // namespace recon
