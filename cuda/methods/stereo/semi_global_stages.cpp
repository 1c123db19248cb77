#include <utility>

#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/refine/median.hpp"

// Semi-global matching over rank or census costs: the costs are written as the bytes that the optimizer
// reads, without a volume of floats, and the winners of both views come from the same sums.

namespace recon::cuda {

void add_semi_global_stages(const PairShape& shape, const PairSpec& options, Arena& arena,
                            PairStages& stages) {
  const DisparityRange range = options.range;
  const TransformOptions transform = options.cost.transform;
  const int outside_cost = options.cost.outside_cost;
  const WinnerChecks checks = winner_checks(options);
  EXPECTS(outside_cost >= 0 && outside_cost <= 255);
  const PairGrey grey = PairGrey::add(shape, shape.words, arena, stages);
  const std::size_t transformed_size = shape.pixels() * transformed_bytes(transform.transform);
  std::byte* const left = arena.take<std::byte>(transformed_size);
  std::byte* const right = arena.take<std::byte>(transformed_size);
  const int stride = path_planes(range.count);
  auto* const costs = arena.take<std::uint8_t>(element_count({shape.width, shape.height, stride}));
  auto* const disparity = arena.take<float>(shape.pixels());
  auto* const filtered = arena.take<float>(shape.pixels());

  SemiGlobalInput input;
  input.costs = costs;
  input.guide = grey.bytes[0];
  input.guide_pitch = shape.width;
  input.width = shape.width;
  input.height = shape.height;
  input.planes = range.count;
  input.options = options.semi_global;
  input.max_cost = whole_cost_limit(options.cost);
  input.right_view = checks.left_right >= 0;
  input.min_disparity = range.min;
  const SemiGlobal optimizer(input, SemiGlobal::take(input, arena));

  stages.images = {{"clear", [=](StageRun& run) { optimizer.queue_clear(run.stream); }},
                   {"transform", [=](StageRun& run) {
                      launch_transform(grey.view(0, shape), grey.bytes[0], transform, left, run.get());
                      launch_transform(grey.view(1, shape), grey.bytes[1], transform, right, run.get());
                    }}};
  const TransformedPair pair{left, right, shape.width, shape.height, range.min, range.count, outside_cost};
  const PairWinners winners{optimizer.winners(), optimizer.right_keys(), shape.width, shape.height};
  stages.left = {
      {"costs",
       [=](StageRun& run) { launch_transform_costs(pair, transform.transform, costs, stride, run.get()); }},
      {"paths", [=](StageRun& run) { optimizer.queue_paths(run.stream); }},
      {"winner", [=](StageRun& run) { optimizer.queue_winner(run.stream); }},
      {"disparity",
       [=](StageRun& run) { launch_pair_disparity(winners, checks, range.min, disparity, run.get()); }}};
  float *map = disparity, *other = filtered;
  const auto add_filter = [&](const char* name, const auto& launch) {
    stages.refinement.push_back(
        {name, [=](StageRun& run) { launch(map, shape.width, shape.height, other, run.get()); }});
    std::swap(map, other);
  };
  if (options.refine.median) add_filter("median", launch_median_3x3);
  const DisparityBounds bounds = disparity_bounds(range.min, range.count);
  if (options.refine.smooth)
    add_filter("smooth", [=](const float* from, int width, int height, float* smooth, cudaStream_t stream) {
      launch_smoothing(from, width, height, bounds, smooth, stream);
    });
  stages.download_from(map, shape);
}

}  // namespace recon::cuda
