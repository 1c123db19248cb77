#pragma once

#include <string>
#include <utility>
#include <vector>

#include "methods/stereo/pair.hpp"
#include "reference/semi_global_problems.hpp"

namespace recon {

/// A pair with its pictures in colour.
struct ColouredPair {
  reference::OwnedPair grey;
  Image<Rgb8> left, right;

  PairProblem problem(const MethodSpec& options) const {
    PairProblem problem = grey.problem;
    problem.options = {options, grey.problem.options.range};
    problem.colour = {left.view(), right.view()};
    return problem;
  }
};

inline Image<Rgb8> coloured(const Image<std::uint8_t>& grey) {
  Image<Rgb8> image(grey.width(), grey.height());
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x) {
      const std::uint8_t g = grey(x, y);
      image(x, y) = {g, static_cast<std::uint8_t>(255 - g), static_cast<std::uint8_t>(g / 2 + 30)};
    }
  return image;
}

inline ColouredPair coloured_pair(reference::OwnedPair grey) {
  ColouredPair pair{std::move(grey), {}, {}};
  pair.left = coloured(pair.grey.left);
  pair.right = coloured(pair.grey.right);
  return pair;
}

/// The right image is the left one moved by `disparity`.
inline ColouredPair moved_pair(int width, int height, DisparityRange range, int disparity) {
  reference::OwnedPair pair = reference::random_pair(width, height, range, 4);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) pair.right(x, y) = pair.left((x + disparity + 10 * width) % width, y);
  return coloured_pair(std::move(pair));
}

/// One of each cost, aggregation and optimizer, with small windows.
inline std::vector<MethodSpec> all_pipelines() {
  std::vector<MethodSpec> pipelines;
  for (const CostKind cost : {CostKind::kColourDifference, CostKind::kAdCensus, CostKind::kTransform})
    for (const Aggregation kind : {Aggregation::kNone, Aggregation::kConstantWindow,
                                   Aggregation::kAdaptiveWeight, Aggregation::kCrossBased})
      for (const Optimizer optimizer :
           {Optimizer::kWinnerTakeAll, Optimizer::kSemiGlobal, Optimizer::kScanline, Optimizer::kGraphCut}) {
        MethodSpec options = presets::plain_pipeline();
        options.cost.kind = cost;
        options.aggregation.kind = kind;
        options.aggregation.constant_radius = 2;
        options.aggregation.adaptive_weight.radius = 3;
        options.optimizer = optimizer;
        pipelines.push_back(options);
      }
  return pipelines;
}

inline std::string name_of(const MethodSpec& options) {
  return "cost " + std::to_string(static_cast<int>(options.cost.kind)) + ", aggregation " +
         std::to_string(static_cast<int>(options.aggregation.kind)) + ", optimizer " +
         std::to_string(static_cast<int>(options.optimizer));
}

}  // namespace recon
