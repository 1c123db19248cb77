#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pipeline_costs.hpp"
#include "methods/stereo/winner_disparity.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/scanline/scanline.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "refine/cost_refinement.hpp"
#include "refine/depth_filters.hpp"
#include "refine/outliers.hpp"

namespace recon {
namespace {

/// The disparity of min cost of each pixel, the lowest one on ties.
Image<float> winners_of(VolumeView<const float> costs, int min) {
  Image<float> disparity(costs.width, costs.height);
  parallel_for(costs.height, [&](int y) {
    std::vector<float> min_costs(costs.width, std::numeric_limits<float>::infinity());
    float* winner = disparity.row(y);
    std::fill_n(winner, costs.width, kUnknown);
    for (int d = 0; d < costs.planes; ++d) {
      const float* row = costs.row(y, d);
      const float value = static_cast<float>(min + d);
      for (int x = 0; x < costs.width; ++x) {
        float& before = min_costs[x];
        winner[x] = row[x] < before ? value : winner[x];
        before = row[x] < before ? row[x] : before;
      }
    }
  });
  return disparity;
}

/// Result of the optimizer for a view.
struct ViewResult {
  Image<float> disparity;  ///< whole numbers
  Volume<float> costs;     ///< costs used by later stages
  Image<float> between;    ///< for kSemiGlobal: disparities with sub-pixel part
};

/// The stages up to the optimizer, for both views of a pair.
class Pipeline {
 public:
  explicit Pipeline(const PairProblem& problem)
      : problem_(problem), options_(problem.options), costs_(problem) {
    if (options_.aggregation.kind != Aggregation::kCrossBased && !options_.refine.vote) return;
    left_arms_ = cross_arms(problem.colour.left, options_.aggregation.cross);
    if (options_.aggregation.kind == Aggregation::kCrossBased)
      right_arms_ = cross_arms(problem.colour.right, options_.aggregation.cross);
  }

  ImageView<const Cross> left_arms() const { return left_arms_.view(); }

  ViewResult match(PairSide side) const {
    const bool left = side == PairSide::kLeft;
    const ColourPair& colour = problem_.colour;
    const int min = problem_.options.range.min;
    Volume<float> costs(colour.left.width, problem_.options.range.count, colour.left.height);
    costs_.fill(side, costs.view());
    const SupportViews<Rgb8> colours{left ? colour.left : colour.right, left ? colour.right : colour.left,
                                     side, min};
    const SupportViews<Cross> arms{left ? left_arms_.view() : right_arms_.view(),
                                   left ? right_arms_.view() : left_arms_.view(), side, min};
    costs = aggregated(std::move(costs), colours, arms, options_.aggregation, max_cost(options_.cost));
    ViewResult result = optimize(side, std::move(costs));
    if (has_graph_cut(options_)) cut(side, result);
    return result;
  }

 private:
  ImageView<const std::uint8_t> guide(PairSide side) const {
    return side == PairSide::kLeft ? problem_.images.left : problem_.images.right;
  }

  ViewResult optimize(PairSide side, Volume<float> costs) const {
    if (options_.optimizer == Optimizer::kSemiGlobal) return follow_paths(side, std::move(costs));
    const int min = problem_.options.range.min;
    ViewResult result;
    if (options_.optimizer == Optimizer::kScanline) {
      const ColourPair& colour = problem_.colour;
      const bool left = side == PairSide::kLeft;
      result.costs = Volume<float>(costs.width(), costs.planes(), costs.height());
      optimize_scanlines(costs.view(), left ? colour.left : colour.right,
                         {left ? colour.right : colour.left, side, min}, options_.scanline,
                         result.costs.view());
    } else {
      result.costs = std::move(costs);
    }
    result.disparity = winners_of(result.costs.view(), min);
    return result;
  }

  ViewResult follow_paths(PairSide side, Volume<float> costs) const {
    const int width = costs.width(), height = costs.height(), min = problem_.options.range.min;
    ViewResult result{Image<float>(width, height), std::move(costs), Image<float>(width, height)};
    SemiGlobalProblem paths;
    paths.costs = whole_costs(result.costs.view(), options_.cost);
    paths.max_cost = whole_cost_limit(options_.cost);
    paths.planes = problem_.options.range.count;
    paths.guide = guide(side);
    paths.options = options_.semi_global;
    semi_global(paths, [&](int y, const PathWinner* winners, const std::uint16_t*) {
      for (int x = 0; x < width; ++x) {
        result.disparity(x, y) = static_cast<float>(min + winners[x].plane);
        result.between(x, y) = subpixel_disparity(winners[x], min);
      }
    });
    return result;
  }

  void cut(PairSide side, ViewResult& result) const {
    cut_disparities(result.costs.view(), guide(side), options_.graph_cut, problem_.options.range.min,
                    result.disparity.view());
  }

  const PairProblem& problem_;
  const MethodSpec& options_;
  PipelineCosts costs_;
  Image<Cross> left_arms_, right_arms_;
};

void invalidate(ImageView<const Outlier> outliers, ImageView<float> disparity) {
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x)
      if (outliers(x, y) != Outlier::kNone) disparity(x, y) = kUnknown;
  });
}

/// Adds the sub-pixel part of the winners to the disparities that still equal their winners.
void take_between(ImageView<const float> between, ImageView<float> disparity) {
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x)
      if (std::abs(between(x, y) - disparity(x, y)) <= 0.5f) disparity(x, y) = between(x, y);
  });
}

/// The refinement stages after the optimizer.
Image<float> refined(const PairProblem& problem, const Pipeline& pipeline, ViewResult left,
                     const Image<float>& right) {
  const MethodSpec& options = problem.options;
  const Refinement& steps = options.refine;
  const DisparityRange range = problem.options.range;
  Image<float>& disparity = left.disparity;
  if (steps.left_right) {
    Image<Outlier> outliers = left_right_check(disparity.view(), right.view(), options.left_right);
    if (steps.interpolate) {
      invalidate_small_segments(disparity.view(), outliers.view());
      extend_surfaces(disparity.view(), outliers.view(), range.min, range.count);
    }
    if (steps.vote)
      vote_in_regions(disparity.view(), outliers.view(), pipeline.left_arms(), range.min, range.count,
                      options.voting, right.view());
    if (steps.interpolate)
      interpolate_outliers(disparity.view(), outliers.view(), problem.colour.left, right.view());
    else
      invalidate(outliers.view(), disparity.view());
  }
  if (steps.edges) disparity = adjust_discontinuities(disparity.view(), left.costs.view(), range.min);
  if (steps.subpixel) {
    if (left.between.empty())
      enhance_subpixel(disparity.view(), left.costs.view(), range.min);
    else
      take_between(left.between.view(), disparity.view());
  }
  return steps.median ? median_3x3(disparity.view()) : std::move(disparity);
}

void check_stages(const PairProblem& problem) {
  check_pair(problem);
  const auto fits = [&](const auto& image) {
    return image.width == problem.images.left.width && image.height == problem.images.left.height;
  };
  EXPECTS(fits(problem.colour.left) && fits(problem.colour.right));
  check(problem.options, false);
}

}  // namespace

DisparityMap pipeline_matching(const PairProblem& problem) {
  check_stages(problem);
  const Pipeline pipeline(problem);
  Image<float> right;
  if (problem.options.refine.left_right) right = std::move(pipeline.match(PairSide::kRight).disparity);
  return {refined(problem, pipeline, pipeline.match(PairSide::kLeft), right)};
}

std::size_t pipeline_matching_bytes(int width, int height, const PairSpec& options, int threads) {
  const MethodSpec& pipeline = options;
  const int planes = options.range.count;
  // Pixels, including an upper bound of the row padding.
  const std::size_t pixels = element_count({std::ptrdiff_t{width} + 64, height});
  const std::size_t volume = Volume<float>::bytes(width, planes, height);
  std::size_t optimizing = 0;
  if (pipeline.optimizer == Optimizer::kScanline)
    optimizing = volume + optimize_scanlines_bytes(width, planes, threads);
  if (pipeline.optimizer == Optimizer::kSemiGlobal)
    optimizing = semi_global_bytes(width, height, planes, pipeline.semi_global,
                                   whole_cost_limit(pipeline.cost), false, threads);
  if (has_graph_cut(pipeline))
    optimizing =
        std::max(optimizing, graph_cut_bytes(width, height, pipeline.graph_cut, threads) + 2 * pixels);
  const std::size_t aggregating = aggregation_bytes(width, height, planes, pipeline.aggregation, threads);
  // The images in grey, in both depths, and in colour; arms; disparity maps of both views, with sub-pixel
  // part, and adjusted or filtered; outliers and voting bins.
  constexpr std::size_t kPixelBytes = 6 + 6 + 2 * sizeof(Cross) + 4 * sizeof(float) + 1 + 4;
  return pixels * kPixelBytes + PipelineCosts::bytes(width, height, planes, pipeline.cost, threads) + volume +
         std::max(aggregating, optimizing);
}

}  // namespace recon
