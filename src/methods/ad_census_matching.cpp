#include "methods/ad_census_matching.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "optimize/scanline.hpp"
#include "refine/cost_refinement.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

/// The disparity of least cost of each pixel, the lowest one on ties.
Image<float> winners_of(VolumeView<const float> costs, int min) {
  Image<float> disparity(costs.width, costs.height);
  parallel_for(costs.height, [&](int y) {
    std::vector<float> least(static_cast<std::size_t>(costs.width), std::numeric_limits<float>::infinity());
    float* winner = disparity.row(y);
    std::fill_n(winner, costs.width, std::numeric_limits<float>::quiet_NaN());
    for (int d = 0; d < costs.planes; ++d) {
      const float* row = costs.row(y, d);
      const float value = static_cast<float>(min + d);
      for (int x = 0; x < costs.width; ++x) {
        float& before = least[static_cast<std::size_t>(x)];
        winner[x] = row[x] < before ? value : winner[x];
        before = row[x] < before ? row[x] : before;
      }
    }
  });
  return disparity;
}

/// What both views of a pair are matched with.
struct AdCensusPair {
  const ColourPair& images;
  const DisparityRange& range;
  const AdCensusMatchingOptions& options;
  Image<Cross> left_crosses, right_crosses;

  /// The costs of a view after the scanline optimisation.
  Volume<float> costs_of(PairSide side, const AdCensusObserver& observe) const {
    const bool is_left = side == PairSide::kLeft;
    const ImageView<const Rgb8> own = is_left ? images.left : images.right,
                                other = is_left ? images.right : images.left;
    const ImageView<const Cross> own_crosses = is_left ? left_crosses.view() : right_crosses.view(),
                                 other_crosses = is_left ? right_crosses.view() : left_crosses.view();
    Volume<float> costs(own.width, range.count, own.height), optimized(own.width, range.count, own.height);
    ad_census_costs(images, side, range.min, options.cost, costs.view());
    if (observe) observe("cost", winners_of(costs.view(), range.min).view());
    cross_based({own_crosses, other_crosses, side, range.min}, options.aggregation, costs.view());
    if (observe) observe("aggregation", winners_of(costs.view(), range.min).view());
    optimize_scanlines(costs.view(), own, {other, side, range.min}, options.scanline, optimized.view());
    return optimized;
  }
};

}  // namespace

DisparityMap ad_census_matching(const ColourPair& pair, const DisparityRange& range,
                                const AdCensusMatchingOptions& options, const AdCensusObserver& observe) {
  EXPECTS(pair.left.width > 0 && pair.left.height > 0);
  EXPECTS(pair.left.width == pair.right.width && pair.left.height == pair.right.height);
  EXPECTS(range.count >= 1 && range.count <= kMaxDisparities);
  EXPECTS(range.min >= -kMaxDisparity && range.min <= kMaxDisparity);
  const auto report = [&](const char* step, const Image<float>& disparity) {
    if (observe) observe(step, disparity.view());
  };
  const AdCensusPair views{pair, range, options, cross_arms(pair.left, options.cross),
                           cross_arms(pair.right, options.cross)};
  const Image<float> right = winners_of(views.costs_of(PairSide::kRight, {}).view(), range.min);
  const Volume<float> costs = views.costs_of(PairSide::kLeft, observe);
  Image<float> disparity = winners_of(costs.view(), range.min);
  report("scanline", disparity);
  Image<Outlier> outliers = left_right_check(disparity.view(), right.view(), range.min, range.count);
  vote_in_regions(disparity.view(), outliers.view(), views.left_crosses.view(), range.min, range.count,
                  options.voting);
  report("vote", disparity);
  interpolate_outliers(disparity.view(), outliers.view(), pair.left);
  report("interpolate", disparity);
  disparity = adjust_discontinuities(disparity.view(), costs.view(), range.min);
  report("edges", disparity);
  enhance_subpixel(disparity.view(), costs.view(), range.min);
  report("subpixel", disparity);
  disparity = median_3x3(disparity.view());
  report("median", disparity);
  return {std::move(disparity)};
}

}  // namespace recon
