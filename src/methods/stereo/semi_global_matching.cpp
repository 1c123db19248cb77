#include <algorithm>

#include "core/error.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
DisparityMap semi_global_matching(const PairProblem& problem) {
  const SemiGlobalPairOptions& options = problem.options.semi_global;
  EXPECTS(options.uniqueness >= 0 && options.uniqueness < 100 && options.left_right >= -1);
  const int width = problem.images.left.width, height = problem.images.left.height;
  Image<float> disparity(width, height);
  {
    const TransformCosts costs(problem.images, problem.options.range, options.transform,
                               options.outside_cost);
    SemiGlobalProblem paths;
    paths.costs = [&](int y, int first, int count, std::uint8_t* out, std::ptrdiff_t stride) {
      costs.fill(y, first, count, out, stride);
    };
    paths.max_cost = max_pair_cost(options);
    paths.planes = problem.options.range.count;
    paths.guide = problem.images.left;
    paths.options = options.optimizer;
    paths.right_view = options.left_right >= 0;
    paths.min_disparity = problem.options.range.min;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t* right_planes) {
      for (int x = 0; x < width; ++x)
        disparity(x, y) = winner_disparity(options, paths.min_disparity, width, x, winners[x],
                                           [&](int matched) { return right_planes[matched]; });
    });
  }
  return {options.median ? median_3x3(disparity.view()) : std::move(disparity)};
}

std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options, int threads) {
  const SemiGlobalPairOptions& own = options.semi_global;
  const std::size_t grey = element_count({padded_count<std::uint8_t>(width), height});
  const std::size_t map = element_count({padded_count<float>(width), height, sizeof(float)});
  const std::size_t transforms = TransformCosts::stored_bytes(width, height, own.transform);
  const std::size_t paths = semi_global_bytes(width, height, options.range.count, own.optimizer,
                                              max_pair_cost(own), false, threads);
  const std::size_t making = TransformCosts::working_bytes(width, height, own.transform);
  // The images in both depths, and the maximum of three phases: transforms, paths, median.
  return 6 * grey + map + std::max({transforms + std::max(making, paths), map});
}

}  // namespace recon
