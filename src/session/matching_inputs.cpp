#include "session/matching_inputs.hpp"

namespace recon {

namespace {

using nlohmann::json;

// Every option is named where the structure is taken apart, so that none can be forgotten: one more does not
// compile.

json describe(const SemiGlobalPairOptions& options) {
  const auto& [transform_options, optimizer, outside_cost, uniqueness, left_right, subpixel, median] =
      options;
  const auto& [transform, rank_window] = transform_options;
  const auto& [paths, p1, p2, p2_falloff] = optimizer;
  return {{"method", "sgm"},
          {"cost", static_cast<int>(transform)},
          {"rank_window", rank_window},
          {"paths", paths},
          {"p1", p1},
          {"p2", p2},
          {"p2_falloff", p2_falloff},
          {"outside_cost", outside_cost},
          {"uniqueness", uniqueness},
          {"left_right", left_right},
          {"subpixel", subpixel},
          {"pair_median", median}};
}

json describe(const BlockMatchingOptions& options) {
  const auto& [cost, prefilter, prefilter_cap, radius, steps_per_pixel, subpixel, max_mean_cost, min_texture,
               uniqueness, left_right, median, pyramid_levels, region] = options;
  return {{"method", "bm"},
          {"cost", static_cast<int>(cost)},
          {"prefilter", static_cast<int>(prefilter)},
          {"prefilter_cap", prefilter_cap},
          {"window", 2 * radius + 1},
          {"steps", steps_per_pixel},
          {"subpixel", subpixel},
          {"max_mean_cost", max_mean_cost},
          {"min_texture", min_texture},
          {"uniqueness", uniqueness},
          {"left_right", left_right},
          {"pair_median", median},
          {"pyramid", pyramid_levels},
          {"region", {region.x, region.y, region.width, region.height}}};
}

json describe(const BeliefOptions& options) {
  const auto& [levels, iterations, data_weight, data_cap, smoothness_cap, smoothing_sigma, storage] = options;
  return {{"method", "bp"},           {"levels", levels},
          {"iterations", iterations}, {"data_weight", data_weight},
          {"data_cap", data_cap},     {"smoothness_cap", smoothness_cap},
          {"sigma", smoothing_sigma}, {"storage", static_cast<int>(storage)}};
}

}  // namespace

json matching_inputs(const PairOptions& options) {
  switch (options.method) {
    case PairMethod::kSemiGlobal:
      return describe(options.semi_global);
    case PairMethod::kBlockMatching:
      return describe(options.block);
    default:
      return describe(options.belief);
  }
}

}  // namespace recon
