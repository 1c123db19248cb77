#include "session/options/pair_settings.hpp"

#include <cstdio>

#include "session/options/option_check.hpp"

namespace recon {

namespace {

void check_range(const PairSettings& settings) {
  if (settings.min_disparity)
    expect_range("--min-disparity", *settings.min_disparity, -kMaxDisparity, kMaxDisparity);
  if (settings.max_disparity)
    expect_range("--max-disparity", *settings.max_disparity, -kMaxDisparity, 2 * kMaxDisparity);
  if (!settings.max_disparity) return;
  const int min = settings.min_disparity.value_or(0), end = *settings.max_disparity;
  if (min >= end)
    throw UsageError("--min-disparity is " + std::to_string(min) + " and --max-disparity " +
                     std::to_string(end) + "; searched is min <= d < max, so the least must be the smaller");
  if (end - min > kMaxDisparities)
    throw UsageError("--max-disparity is " + std::to_string(end) + ", which makes " +
                     std::to_string(end - min) + " disparities; at most " + std::to_string(kMaxDisparities) +
                     " are searched");
}

void check_semi_global(const SemiGlobalPairOptions& options) {
  check_paths(options.optimizer, max_transform_cost(options.transform));
  expect_odd("--rank-window", options.transform.rank_window, 3, kMaxRankWindow);
  expect_range("--uniqueness", options.uniqueness, 0, 99);
  expect_range("--left-right", options.left_right, -1, kMaxDisparities);
}

void check_block(const BlockMatchingOptions& options) {
  expect_range("--window", 2 * options.radius + 1, 3, 2 * kMaxBlockRadius + 1);
  expect_range("--prefilter-cap", options.prefilter_cap, 1, kMaxPrefilterCap);
  if (options.steps_per_pixel != 1 && options.steps_per_pixel != 2 && options.steps_per_pixel != 4)
    throw UsageError("--steps is " + std::to_string(options.steps_per_pixel) + "; it must be 1, 2 or 4");
  expect_range("--max-mean-cost", options.max_mean_cost, 0.0f, 65025.0f);
  expect_range("--min-texture", options.min_texture, 0.0f, 255.0f);
  expect_range("--uniqueness", options.uniqueness, 0, 99);
  expect_range("--left-right", options.left_right, -1, kMaxDisparities);
  expect_range("--pyramid", options.pyramid_levels, 1, kMaxPyramidLevels);
}

void check_belief(const BeliefOptions& options) {
  expect_range("--levels", options.levels, 1, 16);
  expect_range("--iterations", options.iterations, 1, 1000);
  expect_range("--data-weight", options.data_weight, 1e-4f, 100.0f);
  expect_range("--data-cap", options.data_cap, 0.0f, 255.0f);
  expect_range("--smoothness-cap", options.smoothness_cap, 0.0f, static_cast<float>(kMaxDisparities));
  expect_range("--sigma", options.smoothing_sigma, 0.0f, 10.0f);
}

}  // namespace

void check_paths(const SemiGlobalOptions& optimizer, int max_cost) {
  if (optimizer.paths != 4 && optimizer.paths != 8)
    throw UsageError("--paths is " + std::to_string(optimizer.paths) + "; it must be 4 or 8");
  const int most = kMaxPathCost - max_cost;
  expect_range("--p1", optimizer.p1, 0, most);
  expect_range("--p2", optimizer.p2, 0, most);
  if (optimizer.p2 < optimizer.p1)
    throw UsageError("--p2 is " + std::to_string(optimizer.p2) + " and --p1 " + std::to_string(optimizer.p1) +
                     "; a large step must not be cheaper than a small one");
  expect_range("--p2-falloff", optimizer.p2_falloff, 0, 255);
}

void PairSettings::check(Method method) const {
  check_range(*this);
  expect_range("--speckle", min_patch(method), 0, 1 << 30);
  if (method == Method::kSemiGlobal) check_semi_global(matching.semi_global);
  if (method == Method::kBlockMatching) check_block(matching.block);
  if (method == Method::kBeliefPropagation) check_belief(matching.belief);
  if (method == Method::kPipeline) check_pipeline(matching.pipeline);
}

PairOptions PairSettings::resolved(Method method, int min, int end) const {
  PairOptions options = matching;
  options.method = pair_method(method);
  options.range = {min, end - min};
  return options;
}

Region parse_region(const std::string& text) {
  Region region;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%9d,%9d,%9d,%9d%c", &region.x, &region.y, &region.width, &region.height,
                  &rest) != 4 ||
      region.x < 0 || region.y < 0 || region.width < 1 || region.height < 1)
    throw UsageError("--roi is '" + text +
                     "'; write x,y,width,height in pixels of the left image, such as 0,0,640,480");
  return region;
}

std::string format_region(const Region& region) {
  if (region.width == 0 || region.height == 0) return {};
  return std::to_string(region.x) + "," + std::to_string(region.y) + "," + std::to_string(region.width) +
         "," + std::to_string(region.height);
}

}  // namespace recon
