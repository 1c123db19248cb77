#include "methods/stereo/semi_global_matching.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "match/transformed_image.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

TransformedImage transformed(ImageView<const std::uint8_t> grey, ImageView<const std::uint16_t> grey16,
                             const TransformOptions& options, bool mirrored) {
  return grey16.empty() ? TransformedImage(grey, options, mirrored)
                        : TransformedImage(grey16, options, mirrored);
}

/// The costs of the pair, computed on demand.
class PairCosts : public CostSource {
 public:
  explicit PairCosts(const PairProblem& problem)
      : options_(problem.options.semi_global),
        range_(problem.options.range),
        left_(transformed(problem.images.left, problem.images.left16, options_.transform, false)),
        right_(transformed(problem.images.right, problem.images.right16, options_.transform, true)) {}

  int max_cost() const override { return max_pair_cost(options_); }

  void fill(int y, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) const override {
    transform_costs(left_, right_, options_.transform, range_.min, range_.count, options_.outside_cost, y,
                    first, count, costs, stride);
  }

 private:
  const SemiGlobalPairOptions& options_;
  DisparityRange range_;
  TransformedImage left_, right_;
};

/// Computes the disparities of a row from its winners.
void disparity_row(const PairOptions& pair, int width, const PathWinner* winners,
                   const std::uint16_t* right_planes, float* disparity) {
  for (int x = 0; x < width; ++x)
    disparity[x] = winner_disparity(pair.semi_global, pair.range.min, width, x, winners[x],
                                    [&](int matched) { return right_planes[matched]; });
}

}  // namespace

DisparityMap semi_global_matching(const PairProblem& problem) {
  const SemiGlobalPairOptions& options = problem.options.semi_global;
  EXPECTS(options.outside_cost >= 0 && options.outside_cost <= 255);
  EXPECTS(options.uniqueness >= 0 && options.uniqueness < 100 && options.left_right >= -1);
  const int width = problem.images.left.width, height = problem.images.left.height;
  Image<float> disparity(width, height);
  {
    const PairCosts costs(problem);
    SemiGlobalProblem paths;
    paths.costs = &costs;
    paths.planes = problem.options.range.count;
    paths.guide = problem.images.left;
    paths.options = options.optimizer;
    paths.right_view = options.left_right >= 0;
    paths.min_disparity = problem.options.range.min;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t* right_planes) {
      disparity_row(problem.options, width, winners, right_planes, disparity.row(y));
    });
  }
  return {options.median ? median_3x3(disparity.view()) : std::move(disparity)};
}

std::size_t semi_global_matching_bytes(int width, int height, const PairOptions& options, int threads) {
  const SemiGlobalPairOptions& own = options.semi_global;
  const std::size_t grey = element_count({padded_count<std::uint8_t>(width), height});
  const std::size_t map = element_count({padded_count<float>(width), height, sizeof(float)});
  const std::size_t transforms = 2 * TransformedImage::stored_bytes(width, height, own.transform);
  const std::size_t paths =
      semi_global_bytes(width, height, options.range.count, own.optimizer, max_pair_cost(own), threads);
  const std::size_t making = TransformedImage::working_bytes(width, height, own.transform, 2);
  // The images in both depths, and the maximum of three phases: transforms, paths, median.
  return 6 * grey + map + std::max({transforms + std::max(making, paths), map});
}

}  // namespace recon
