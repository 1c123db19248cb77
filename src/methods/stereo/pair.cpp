#include "methods/stereo/pair.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/gaussian_blur.hpp"
#include "match/truncated_difference.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/belief/belief_propagation.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

TruncatedDifferenceRows cost_rows(const PairProblem& problem) {
  const BeliefOptions& options = problem.options.belief;
  const Image<float> left = gaussian_blur(problem.images.left, options.smoothing_sigma);
  const Image<float> right = gaussian_blur(problem.images.right, options.smoothing_sigma);
  return {left.view(), right.view(), {options.data_weight, options.data_cap}, problem.options.range.min};
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
}

DisparityMap match_pair(const PairProblem& problem) {
  check_pair(problem);
  switch (problem.options.whole) {
    case WholeMethod::kBlockMatching:
      return block_matching(problem);
    case WholeMethod::kSemiGlobal:
      return semi_global_matching(problem);
    case WholeMethod::kNone:
      return pipeline_matching(problem);
    default:
      return belief_matching(problem);
  }
}

std::size_t match_pair_bytes(int width, int height, const PairSpec& options, int threads) {
  switch (options.whole) {
    case WholeMethod::kBlockMatching:
      return block_matching_bytes(width, height, options, threads);
    case WholeMethod::kSemiGlobal:
      return semi_global_matching_bytes(width, height, options, threads);
    case WholeMethod::kNone:
      return pipeline_matching_bytes(width, height, options, threads);
    default:
      return belief_matching_bytes(width, height, options, threads);
  }
}

WinnerChecks winner_checks(const MethodSpec& spec) {
  const int left_right = spec.refine.left_right ? static_cast<int>(spec.left_right) : -1;
  EXPECTS(spec.uniqueness >= 0 && spec.uniqueness < 100 && spec.left_right >= 0);
  return {spec.uniqueness, left_right, spec.refine.subpixel};
}

DisparityMap semi_global_matching(const PairProblem& problem) {
  const MethodSpec& options = problem.options;
  const WinnerChecks checks = winner_checks(options);
  const int width = problem.images.left.width, height = problem.images.left.height;
  Image<float> disparity(width, height);
  {
    const TransformCosts costs(problem.images, problem.options.range, options.cost);
    SemiGlobalProblem paths;
    paths.costs = [&](int y, int first, int count, std::uint8_t* out, std::ptrdiff_t stride) {
      costs.fill(y, first, count, out, stride);
    };
    paths.max_cost = whole_cost_limit(options.cost);
    paths.planes = problem.options.range.count;
    paths.guide = problem.images.left;
    paths.options = options.semi_global;
    paths.right_view = checks.left_right >= 0;
    paths.min_disparity = problem.options.range.min;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t* right_planes) {
      for (int x = 0; x < width; ++x)
        disparity(x, y) = winner_disparity(checks, paths.min_disparity, width, x, winners[x],
                                           [&](int matched) { return right_planes[matched]; });
    });
  }
  return {options.refine.median ? median_3x3(disparity.view()) : std::move(disparity)};
}

std::size_t semi_global_matching_bytes(int width, int height, const PairSpec& options, int threads) {
  const std::size_t grey = element_count({padded_count<std::uint8_t>(width), height});
  const std::size_t map = element_count({padded_count<float>(width), height, sizeof(float)});
  const std::size_t transforms = TransformCosts::stored_bytes(width, height, options.cost.transform);
  const std::size_t paths = semi_global_bytes(width, height, options.range.count, options.semi_global,
                                              whole_cost_limit(options.cost), false, threads);
  const std::size_t making = TransformCosts::working_bytes(width, height, options.cost.transform);
  // The images in both depths, and the maximum of three phases: transforms, paths, median.
  return 6 * grey + map + std::max({transforms + std::max(making, paths), map});
}

DisparityMap belief_matching(const PairProblem& problem) {
  check_pair(problem);
  const DisparityRange range = problem.options.range;
  const BeliefShape shape{problem.images.left.width, problem.images.left.height, range.count};
  check_belief(shape, problem.options.belief);
  const TruncatedDifferenceRows rows = cost_rows(problem);
  const Image<std::uint16_t> winners =
      propagate_beliefs(shape, problem.options.belief, [&](const BeliefColumns& c, int d, float* costs) {
        rows.row(c.y, c.x_parity, c.first, c.count, d, costs);
      });
  DisparityMap result{Image<float>(shape.width, shape.height)};
  parallel_for(shape.height, [&](int y) {
    for (int x = 0; x < shape.width; ++x)
      result.disparity(x, y) = static_cast<float>(range.min + winners(x, y));
  });
  return result;
}

std::size_t belief_matching_bytes(int width, int height, const PairSpec& options, int threads) {
  const std::size_t grey = element_count({padded_count<std::uint8_t>(width), height});
  const std::size_t floats =
      element_count({padded_count<float>(width), height, static_cast<std::ptrdiff_t>(sizeof(float))});
  const std::size_t rows = TruncatedDifferenceRows::bytes(width, height);
  const std::size_t beliefs =
      propagate_beliefs_bytes({width, height, options.range.count}, options.belief, threads);
  // Blurring needs three images besides the derived data; the result is allocated after belief propagation.
  return 2 * grey + rows + std::max(3 * floats, beliefs + floats);
}

}  // namespace recon
