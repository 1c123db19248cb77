#include "core/parallel.hpp"
#include "match/gaussian_blur.hpp"
#include "match/truncated_difference.hpp"
#include "methods/stereo/pair.hpp"
#include "optimize/belief/belief_propagation.hpp"

namespace recon {
namespace {

TruncatedDifferenceRows cost_rows(const PairProblem& problem) {
  const BeliefOptions& options = problem.options.belief;
  const Image<float> left = gaussian_blur(problem.images.left, options.smoothing_sigma);
  const Image<float> right = gaussian_blur(problem.images.right, options.smoothing_sigma);
  return {left.view(), right.view(), {options.data_weight, options.data_cap}, problem.options.range.min};
}

}  // namespace

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

std::size_t belief_matching_bytes(int width, int height, const PairOptions& options, int threads) {
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
