#include "cuda/methods/stereo/pair_paths.hpp"
#include "cuda/methods/stereo/pipeline_views.hpp"

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
  std::byte* const left = take_transformed(transform.transform, shape.pixels(), arena);
  std::byte* const right = take_transformed(transform.transform, shape.pixels(), arena);
  const QuantizedCosts costs = take_quantized_costs(shape.width, shape.height, range.count, arena);
  auto* disparity = arena.take<float>(shape.pixels());

  SemiGlobalInput input(costs, range.count, options.semi_global, whole_cost_limit(options.cost));
  input.guide = grey.bytes[0];
  input.guide_pitch = shape.width;
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
  stages.left = {{"costs",
                  [=](StageRun& run) {
                    launch_transform_costs(pair, transform.transform, costs.data, costs.stride, run.get());
                  }},
                 {"paths", [=](StageRun& run) { optimizer.queue_paths(run.stream); }},
                 {"winner", [=](StageRun& run) { optimizer.queue_winner(run.stream); }},
                 {"disparity", [=](StageRun& run) {
                    launch_pair_disparity(winners, checks, range.min, disparity, run.get());
                  }}};
  const PipelineImages images{};
  const PipelineMaps maps{.left = disparity};
  stages.set_result(PairRefinement(shape, options, images, maps, arena, stages).add_steps(), shape);
}

}  // namespace recon::cuda
