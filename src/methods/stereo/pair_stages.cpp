#include "methods/stereo/pair_stages.hpp"

#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "optimize/scanline/scanline.hpp"
#include "refine/cost_refinement.hpp"
#include "refine/depth_filters.hpp"
#include "refine/outliers.hpp"

namespace recon {
namespace {

/// The stages up to the labels, without the check of the views.
MethodSpec labels_only(MethodSpec spec) {
  const bool cut = spec.refine.graph_cut;
  spec.refine = {};
  spec.refine.graph_cut = cut;
  return spec;
}

ImageView<const std::uint8_t> guide_of(const PairProblem& problem, PairSide side) {
  return side == PairSide::kLeft ? problem.images.left : problem.images.right;
}

void put_labels(ImageView<const std::uint16_t> labels, const Hypotheses& disparities,
                ImageView<float> disparity) {
  parallel_for(labels.height, [&](int y) {
    for (int x = 0; x < labels.width; ++x)
      disparity(x, y) = labels(x, y) == kNoLabel ? kUnknown : disparities.value(labels(x, y));
  });
}

}  // namespace

PairInputs::PairInputs(const PairProblem& pair) : problem(pair), costs(pair) {
  const MethodSpec& spec = pair.options;
  const bool crosses = aggregator_of(spec.aggregation).guide == SupportGuide::kArms;
  if (crosses || spec.refine.vote) left_arms = cross_arms(pair.colour.left, spec.aggregation.cross);
  if (crosses) right_arms = cross_arms(pair.colour.right, spec.aggregation.cross);
}

PairStages::PairStages(const PairInputs& inputs, PairSide side, const MethodSpec& spec)
    : HostStages(spec, Hypotheses(inputs.problem.options.range), guide_of(inputs.problem, side)),
      inputs_(inputs),
      side_(side),
      range_(inputs.problem.options.range),
      checks_(winner_checks(spec)),
      disparity_(guide_.width, guide_.height) {
  if (spec.optimizer == Optimizer::kSemiGlobal && spec.judge == WinnerJudge::kOtherView &&
      spec.refine.subpixel)
    between_ = Image<float>(guide_.width, guide_.height);
}

template <class T>
SupportViews<T> PairStages::views(ImageView<const T> left, ImageView<const T> right) const {
  if (side_ == PairSide::kRight) std::swap(left, right);
  return {left, right, side_, range_.min};
}

Volume<float> PairStages::aggregated(Volume<float> costs) const {
  const ColourPair& colour = inputs_.problem.colour;
  return recon::aggregated(std::move(costs), views(colour.left, colour.right),
                           views(inputs_.left_arms.view(), inputs_.right_arms.view()), spec_.aggregation,
                           max_cost(spec_.cost));
}

Volume<float> PairStages::along_scanlines(Volume<float> costs) const {
  const SupportViews<Rgb8> colours = views(inputs_.problem.colour.left, inputs_.problem.colour.right);
  Volume<float> means(costs.width(), costs.planes(), costs.height());
  optimize_scanlines(costs.view(), colours.reference, {colours.source, side_, range_.min}, spec_.scanline,
                     means.view());
  return means;
}

SemiGlobalProblem PairStages::integer_costs() {
  SemiGlobalProblem paths;
  paths.max_cost = whole_cost_limit(spec_.cost);
  if (cost_storage(spec_) == CostStorage::kFloats) {
    paths.costs = whole_costs(std::as_const(costs_).view(), spec_.cost);
    return paths;
  }
  paths.costs = inputs_.costs.integers();
  paths.right_view = checks_.left_right >= 0;
  paths.min_disparity = range_.min;
  return paths;
}

void PairStages::take_winners(int y, const Winner* winners) {
  for (int x = 0; x < guide_.width; ++x) {
    disparity_(x, y) = winners[x].plane < 0 ? kUnknown : hypotheses_.value(winners[x].plane);
    set_label(x, y, winners[x].plane);
  }
}

void PairStages::take_paths(int y, const PathWinner* winners, const std::uint16_t* right_planes) {
  if (spec_.judge == WinnerJudge::kSums) {
    for (int x = 0; x < guide_.width; ++x)
      disparity_(x, y) = winner_disparity(checks_, range_.min, guide_.width, x, winners[x],
                                          [&](int matched) { return right_planes[matched]; });
    return;
  }
  for (int x = 0; x < guide_.width; ++x) {
    disparity_(x, y) = hypotheses_.value(winners[x].plane);
    set_label(x, y, winners[x].plane);
    if (!between_.empty()) between_(x, y) = subpixel_disparity(winners[x], range_.min);
  }
}

void PairStages::take_labels() {
  put_labels(std::as_const(labels_).view(), hypotheses_, disparity_.view());
}

void PairStages::refine() {
  for_stages(kPairSteps, steps_after_labels(spec_), [this](PairStep step) { run_step(step); });
}

void PairStages::run_step(PairStep step) {
  const Image<float>& other = other_;
  switch (step) {
    case PairStep::kCheck:
      outliers_ = left_right_check(disparity_.view(), other.view(), spec_.left_right);
      return;
    case PairStep::kSurfaces:
      return mark_surfaces();
    case PairStep::kVotes:
      return vote_in_regions(disparity_.view(), outliers_.view(), inputs_.left_arms.view(), range_.min,
                             range_.count, spec_.voting, other.view());
    case PairStep::kInterpolation:
      return interpolate_outliers(disparity_.view(), outliers_.view(), inputs_.problem.colour.left,
                                  other.view());
    case PairStep::kInvalidation:
      return invalidate();
    case PairStep::kEdges:
      disparity_ = adjust_discontinuities(disparity_.view(), costs_.view(), range_.min);
      return;
    case PairStep::kSubpixel:
      return add_subpixel();
    case PairStep::kMedian:
      disparity_ = median_3x3(disparity_.view());
      return;
    case PairStep::kSmoothing:
      disparity_ = smoothed_disparities(disparity_.view(), disparity_bounds(range_.min, range_.count));
      return;
  }
}

void PairStages::match_other_view() {
  PairStages other(inputs_, PairSide::kRight, labels_only(spec_));
  other.run();
  other_ = std::move(other.disparity());
}

void PairStages::mark_surfaces() {
  // A map, and the runs of the segments: at most one a pixel.
  constexpr int kPixelBytes = sizeof(float) + 13;
  const auto bytes = [&](int) { return element_count({disparity_.pitch(), guide_.height, kPixelBytes}); };
  compute(bytes, [&] {
    invalidate_small_segments(disparity_.view(), outliers_.view());
    extend_surfaces(disparity_.view(), outliers_.view(), range_.min, range_.count);
  });
}

void PairStages::invalidate() {
  parallel_for(guide_.height, [&](int y) {
    for (int x = 0; x < guide_.width; ++x)
      if (outliers_(x, y) != Outlier::kNone) disparity_(x, y) = kUnknown;
  });
}

/// Adds the sub-pixel part of the winners to the disparities that still equal their winners.
void PairStages::add_subpixel() {
  if (between_.empty()) return enhance_subpixel(disparity_.view(), costs_.view(), range_.min);
  parallel_for(guide_.height, [&](int y) {
    for (int x = 0; x < guide_.width; ++x)
      if (std::abs(between_(x, y) - disparity_(x, y)) <= 0.5f) disparity_(x, y) = between_(x, y);
  });
}

void cut_disparities(const PairSpec& spec, VolumeView<float> costs, ImageView<const std::uint8_t> guide,
                     ImageView<float> disparity) {
  Image<std::uint16_t> labels(disparity.width, disparity.height);
  parallel_for(disparity.height, [&](int y) {
    for (int x = 0; x < disparity.width; ++x) {
      const float found = disparity(x, y);
      labels(x, y) =
          std::isnan(found) ? kNoLabel : static_cast<std::uint16_t>(static_cast<int>(found) - spec.range.min);
    }
  });
  cut_labels(spec, costs, guide, labels.view());
  put_labels(std::as_const(labels).view(), spec.range, disparity);
}

}  // namespace recon
