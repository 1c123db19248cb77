#include "methods/stereo/pair.hpp"

#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/gaussian_blur.hpp"
#include "match/truncated_difference.hpp"
#include "methods/stereo/pair_stages.hpp"
#include "optimize/belief/belief_propagation.hpp"

namespace recon {
namespace {

TruncatedDifferenceRows cost_rows(const PairProblem& problem) {
  const BeliefOptions& options = problem.options.belief;
  const Image<float> left = gaussian_blur(problem.images.left, options.smoothing_sigma);
  const Image<float> right = gaussian_blur(problem.images.right, options.smoothing_sigma);
  return {left.view(), right.view(), {options.data_weight, options.data_cap}, problem.options.range.min};
}

DisparityMap match_by_stages(const PairProblem& problem) {
  const MethodSpec& spec = problem.options;
  check(spec, false);
  const auto fits = [&](const auto& image) {
    return image.width == problem.images.left.width && image.height == problem.images.left.height;
  };
  EXPECTS(fused_stages(spec) || (fits(problem.colour.left) && fits(problem.colour.right)));
  const PairInputs inputs(problem);
  PairStages stages(inputs, PairSide::kLeft, spec);
  stages.run();
  return {std::move(stages.disparity())};
}

}  // namespace

void check_pair(const PairProblem& problem) {
  const GreyPair& images = problem.images;
  EXPECTS(images.left.width > 0 && images.left.height > 0);
  EXPECTS(images.left.width == images.right.width && images.left.height == images.right.height);
  EXPECTS(images.left16.empty() == images.right16.empty());
  EXPECTS(images.left16.empty() ||
          (images.left16.width == images.left.width && images.left16.height == images.left.height &&
           images.right16.width == images.left.width && images.right16.height == images.left.height));
  const DisparityRange range = problem.options.range;
  EXPECTS(range.count >= 1 && range.count <= kMaxDisparities);
  EXPECTS(range.min >= -kMaxDisparity && range.min <= kMaxDisparity);
  check(problem.options, false);
}

DisparityMap match_pair(const PairProblem& problem) {
  check_pair(problem);
  const std::optional<FusedStages> fused = fused_stages(problem.options);
  if (fused == FusedStages::kBlocks) return block_matching(problem);
  if (fused == FusedStages::kBeliefs) return belief_matching(problem);
  return match_by_stages(problem);
}

WinnerChecks winner_checks(const MethodSpec& spec) {
  const int left_right = spec.refine.left_right ? static_cast<int>(spec.left_right) : -1;
  EXPECTS(spec.uniqueness >= 0 && spec.uniqueness < 100 && spec.left_right >= 0);
  return {spec.uniqueness, left_right, spec.refine.subpixel};
}

DisparityMap belief_matching(const PairProblem& problem) {
  check_pair(problem);
  const DisparityRange range = problem.options.range;
  const BeliefShape shape{problem.images.left.width, problem.images.left.height, range.count};
  check_belief(shape, problem.options.belief);
  const TruncatedDifferenceRows rows = cost_rows(problem);
  const BeliefOptions& options = problem.options.belief;
  const Image<std::uint16_t> winners =
      propagate_beliefs(shape, options, [&](const BeliefColumns& c, int d, float* costs) {
        rows.row(c.y, c.x_parity, c.first, c.count, d, costs);
      });
  DisparityMap result{Image<float>(shape.width, shape.height)};
  parallel_for(shape.height, [&](int y) {
    for (int x = 0; x < shape.width; ++x)
      result.disparity(x, y) = static_cast<float>(range.min + winners(x, y));
  });
  return result;
}

}  // namespace recon
