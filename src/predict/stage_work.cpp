#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/stereo/block/block_step.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "optimize/belief/belief_tiling.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"
#include "optimize/patch_match/smooth_planes_step.hpp"
#include "optimize/semi_global/path_pass.hpp"
#include "predict/performance_model.hpp"

namespace recon {
namespace {

double area(double width, double height) {
  return width * height;
}

/// Warped samples of one source, one channel and one plane of a part of the reference.
double warped(int width, int height, const SweepShape& shape, int threads) {
  if (threads == 0) return area(width, height);
  const TileSize tile = sweep_tile_size(width, height, shape.planes, shape.cost.window);
  const int columns = (width + tile.width - 1) / tile.width, rows = (height + tile.height - 1) / tile.height;
  const double halo = shape.cost.window - 1;
  return area(width + columns * halo, height + rows * halo) +
         0.5 * (threads - 1) * area(tile.width + halo, tile.height + halo);
}

/// Planes that the paths and searches of a pixel work on: of a CPU those in whole vectors of 64 bytes; of a
/// GPU the power of two of threads' planes that holds them, at least 64.
double plane_lanes(int planes, int threads) {
  if (threads > 0) return static_cast<double>(cost_stride(planes));
  return std::max(64u, std::bit_ceil(static_cast<unsigned>(planes)));
}

const char* optimizer_name(Optimizer optimizer) {
  constexpr const char* kNames[] = {"winner", "paths", "scanline", "graphcut", "belief", "patches"};
  return kNames[static_cast<int>(optimizer)];
}

/// The steps that refine labels, but for the graph cut, whose options decide too.
std::string step_names(const Refinement& steps) {
  std::string names;
  for (const RefineStep& step : kRefineSteps)
    if (step.is(kOfPairs | kOfPlanes) && step.flag != &Refinement::graph_cut && step.is_in(steps))
      names += std::string(" ") + step.word;
  return names;
}

/// Cost, combination and stages of a sweep, which decide what a sample takes.
std::string sweep_name(const SweepShape& shape) {
  constexpr const char* kCombinations[] = {"minimum", "mean", "best"};
  const CostOptions& options = shape.cost;
  const GraphCutOptions& cut = shape.graph_cut;
  const bool best = options.combination == Combination::kBestK,
             paths = shape.optimizer == Optimizer::kSemiGlobal;
  std::string name = fmt::format(
      "sweep {}{} {}{} {}{}", swept_cost(options.kind)->keyword, shape.channels == 3 ? " colour" : "",
      kCombinations[static_cast<int>(options.combination)], best ? std::to_string(options.best_k) : "",
      optimizer_name(shape.optimizer), paths ? std::to_string(shape.semi_global.paths) : "");
  if (needs_volume(shape)) {
    const AggregationWork by =
        aggregator_of(shape.aggregation).work(shape.width, shape.height, shape.planes, shape.aggregation, 0);
    name += fmt::format(" {}{}", by.name, by.radius);
  }
  if (has_graph_cut(shape)) name += fmt::format(" cut{},{},{}", cut.best, cut.reach, cut.passes);
  return name + step_names(shape.refine);
}

/// Pixels of the circles in which surfaces vote at a depth edge, of all passes.
int edge_votes() {
  int votes = 0;
  for (int pass = 0; pass < kEdgePasses; ++pass) {
    const int radius = edge_pass(pass).radius;
    for (int y = -radius; y <= radius; ++y)
      for (int x = -radius; x <= radius; ++x) votes += x * x + y * y <= radius * radius;
  }
  return votes;
}

/// The time of a step that refines patches, in samples of them.
double step_samples(PatchStep step, const SweepShape& shape) {
  switch (step) {
    case PatchStep::kPrior:
      return 0;  // few pixels
    case PatchStep::kEdges:
      // Few pixels lie near edges, where a vote takes several samples: all votes of all pixels take as long
      // as samples of patches, as measured on scenes/demo.
      return area(shape.width, shape.height) * edge_votes();
  }
  return 0;
}

/// Samples of the patches that the passes over all levels compare, see patch_match, and the time of the
/// steps.
double patch_samples(const SweepShape& shape) {
  const PatchMatchOptions& options = shape.patch_match;
  const double best = std::min(options.best_k, shape.sources), side = 2 * options.radius + 1;
  const int improved = options.iterations * (kRegions + kPerturbations);
  SweepShape level = shape;
  double evaluations = 0;
  for (int& i = level.patch_match.levels = 0; i <= options.levels; ++i) {
    const SweepShape halved = coarsest_shape(level);
    // At every choice of sources the own plane in all and in the best ones; other planes in the best ones.
    const int choices = std::max(1, options.iterations);
    const int others = improved + (i < options.levels ? kCoarserPlanes : 0);
    evaluations += area(halved.width, halved.height) * (choices * (shape.sources + best) + best * others);
  }
  // Plane by plane a cell of a window takes about as long as a sample of a patch in one source, eight at
  // once.
  const double finest = area(shape.width, shape.height);
  const double smoothed = shape.refine.smooth_patches ? options.iterations * finest : 0;
  evaluations += smoothed * best;
  double samples = side * side * evaluations + smoothed * kAgreedCells * (kAgreedCandidates + 1) / 8;
  for_stages(kPatchSteps, shape.refine, [&](PatchStep step) { samples += step_samples(step, shape); });
  return samples;
}

/// The functions of the methods for pairs add to a task that has the size of the images.

void add_block(const PairSpec& options, int threads, StageTask& task) {
  constexpr int kMostPacked = 512;  // hypotheses that the registers of a GPU hold; more are another search
  const BlockMatchingOptions& block = options.block;
  const int steps = block.steps_per_pixel, vector = sums_fit_16_bits(block) ? 32 : 16;  // of 64 bytes
  const bool many = threads == 0 && options.range.count * steps > kMostPacked;
  task.stage =
      fmt::format("bm {}{} steps{} levels{}{}{}", block.cost == BlockCost::kSad ? "sad" : "ssd",
                  block.prefilter == BlockPrefilter::kSobel ? " sobel" : "", steps, block.pyramid_levels,
                  block.left_right >= 0 ? " checked" : "", many ? " many" : "");
  task.radius = block.radius;
  if (block.region.width > 0) task.pixels = area(block.region.width, block.region.height);
  task.work.pixels = 2 * task.pixels;
  double level = task.pixels;
  int planes = options.range.count;
  for (int i = 0; i < block.pyramid_levels; ++i, level /= 4, planes = (planes + 1) / 2) {
    double lanes = (planes + vector - 1) / vector * vector;
    if (threads == 0) lanes = planes * steps > kMostPacked ? planes : plane_lanes(planes, 0);
    task.work.operations += level * lanes * steps;
  }
}

void add_semi_global(int width, int height, const PairSpec& options, int threads, StageTask& task) {
  const TransformOptions& transform = options.cost.transform;
  const SemiGlobalOptions& paths = options.semi_global;
  const int max_cost = whole_cost_limit(options.cost);
  task.stage =
      fmt::format("sgm transform{} paths{}{}{}", static_cast<int>(transform.transform), paths.paths,
                  options.refine.left_right ? " checked" : "", max_cost + paths.p2 <= 255 ? "" : " wide");
  if (transform.transform == Transform::kRank) task.radius = transform.rank_window / 2;
  const double lanes = plane_lanes(options.range.count, threads);
  if (threads == 0) {
    task.work.bytes = 7 * task.pixels * lanes;
    return;
  }
  const std::size_t cell = wide_path_sums(paths, max_cost) ? 3 : 2;
  const PathBlocks plan(width, height, options.range.count, cell, threads);
  double pieces = 0;
  for (int top = 0; top < height; top += plan.rows)
    pieces +=
        (top == 0 ? 2 : 3) * wavefront_work(std::min(plan.rows, height - top), width, plan.wave, threads);
  task.work.operations = pieces * kPathColumns * lanes;
}

void add_belief(int width, int height, const PairSpec& options, int threads, StageTask& task) {
  const BeliefOptions& belief = options.belief;
  const BeliefPyramid pyramid = belief_pyramid({width, height, options.range.count}, belief, 1);
  const std::size_t stored = pyramid.element_bytes;
  task.stage = fmt::format("bp levels{} iterations{} storage{}{}", belief.levels, belief.iterations,
                           static_cast<int>(belief.storage), belief.smoothing_sigma > 0 ? " blurred" : "");
  double pixels = 0;  // of all levels and iterations
  for (const BeliefLevel& level : pyramid.levels) {
    const BeliefTiling tiling(level, belief.iterations, stored, std::max(1, threads));
    std::vector<double> tiles(static_cast<std::size_t>(tiling.columns * tiling.rows));
    for (std::size_t i = 0; i < tiles.size(); ++i)
      for (int stage = 1; stage + 1 < tiling.stages; ++stage) {
        const BeliefTile reach = tiling.reach(level, tiling.tile(level, static_cast<int>(i)), stage);
        tiles[i] += area(reach.x_end - reach.x_begin, reach.y_end - reach.y_begin);
      }
    pixels += threads > 0 ? shared_work(tiles, threads) : belief.iterations * area(level.width, level.height);
  }
  task.work.operations = int{kMessageCount} * task.planes * pixels;
  task.work.bytes =
      task.planes * (threads > 0 ? task.work.operations : task.pixels * static_cast<double>(stored));
}

void add_pipeline(int width, int height, const PairSpec& options, int threads, StageTask& task) {
  const AggregationWork by = aggregator_of(options.aggregation)
                                 .work(width, height, options.range.count, options.aggregation, threads);
  task.stage = fmt::format("pipeline cost{} {} optimizer{}{}{}", static_cast<int>(options.cost.kind), by.name,
                           static_cast<int>(options.optimizer), options.refine.graph_cut ? " cut" : "",
                           step_names(options.refine));
  task.radius = by.radius;
  // Both views, where their winners are compared; each optimizer passes over the volume once a path.
  const double views = options.refine.left_right ? 2 : 1, samples = task.pixels * task.planes;
  double paths = options.semi_global.paths;
  if (options.optimizer == Optimizer::kScanline) paths = 4;
  if (options.optimizer == Optimizer::kWinnerTakeAll) paths = 0;
  task.work.pixels += views * by.pixels;
  task.work.operations = views * by.operations;
  task.work.bytes = views * (8 * samples + by.bytes + 8 * paths * samples);
}

/// The sweep of the coarsest level, and the patches.
StageTask patches_task(const SweepShape& shape, int threads) {
  const PatchMatchOptions& options = shape.patch_match;
  StageTask task = sweep_task(coarsest_shape(shape), threads);
  task.stage += fmt::format(" patches{},{},{}", options.radius, options.best_k, options.iterations);
  task.pixels = area(shape.width, shape.height);
  task.sources = shape.sources;
  task.work.pixels = 0;
  task.work.patches = patch_samples(shape);
  return task;
}

}  // namespace

double shared_work(const std::vector<double>& parts, int threads) {
  EXPECTS(threads >= 1);
  std::vector<double> busy(static_cast<std::size_t>(threads));
  for (const double part : parts) *std::ranges::min_element(busy) += part;
  return std::ranges::max(busy) * threads;
}

double wavefront_work(int rows, int columns, const WavefrontShape& shape, int threads) {
  const int pieces = (columns + shape.columns - 1) / shape.columns;
  // Pieces of a full band until its last row has two, or all.
  const int ahead = shape.band_rows * (shape.band_rows + 1) / 2 + (pieces > 1 ? shape.band_rows : 0);
  const double lead = std::min(ahead, pieces * shape.band_rows);
  std::vector<double> busy(static_cast<std::size_t>(shape.workers));
  double start = -lead;
  for (int row = 0; row < rows; row += shape.band_rows) {
    double& worker = *std::ranges::min_element(busy);
    start = std::max(worker, start + lead);
    worker = start + static_cast<double>(pieces) * std::min(shape.band_rows, rows - row);
  }
  return std::ranges::max(busy) * threads;
}

StageTask sweep_task(const SweepShape& shape, int threads) {
  if (has_patches(shape)) return patches_task(shape, threads);
  const double pixels = area(shape.width, shape.height), channels = shape.sources * shape.channels;
  StageWork work{.calls = 1, .pixels = pixels + channels * area(shape.source_width, shape.source_height)};
  for (const SweepBlock& block : blocks_of(shape)) {
    const auto [left, top, width, height] = block.outer;
    const double samples = area(width, height) * shape.planes;
    work.operations += channels * shape.planes * warped(width, height, shape, threads);
    work.bytes += 4 * samples;
    if (shape.optimizer == Optimizer::kSemiGlobal)
      work.bytes += 7 * area(width, height) * plane_lanes(shape.planes, threads);
    if (needs_volume(shape))
      work.bytes += 8 * samples + aggregator_of(shape.aggregation)
                                      .work(width, height, shape.planes, shape.aggregation, threads)
                                      .bytes;
  }
  const double planes = shape.planes, sources = shape.sources;
  return {sweep_name(shape), shape.cost.window / 2, work, pixels, planes, sources};
}

StageTask pair_task(int width, int height, const PairSpec& options, int threads) {
  StageTask task;
  task.pixels = area(width, height);
  task.planes = options.range.count;
  task.work.calls = 1;
  task.work.pixels = 2 * task.pixels;
  const std::optional<FusedStages> fused = fused_stages(options);
  if (!fused) {
    add_pipeline(width, height, options, threads, task);
    return task;
  }
  switch (*fused) {
    case FusedStages::kBlocks:
      add_block(options, threads, task);
      break;
    case FusedStages::kPaths:
      add_semi_global(width, height, options, threads, task);
      break;
    case FusedStages::kBeliefs:
      add_belief(width, height, options, threads, task);
      break;
  }
  return task;
}

}  // namespace recon
