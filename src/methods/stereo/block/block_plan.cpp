#include "methods/stereo/block/block_plan.hpp"

#include <cmath>

#include "core/error.hpp"

namespace recon {
namespace {

void check_options(int width, int height, const BlockMatchingOptions& o) {
  EXPECTS(o.radius >= 1 && o.radius <= kMaxBlockRadius);
  EXPECTS(o.prefilter_cap >= 1 && o.prefilter_cap <= kMaxPrefilterCap);
  EXPECTS(o.steps_per_pixel == 1 || o.steps_per_pixel == 2 || o.steps_per_pixel == 4);
  EXPECTS(o.max_mean_cost >= 0 && o.min_texture >= 0);
  EXPECTS(o.uniqueness >= 0 && o.uniqueness <= 99);
  EXPECTS(o.left_right >= -1);
  EXPECTS(o.pyramid_levels >= 1 && o.pyramid_levels <= kMaxPyramidLevels);
  const Region& r = o.region;
  EXPECTS(r.x >= 0 && r.y >= 0 && r.width >= 0 && r.height >= 0);
  EXPECTS(r.width <= width - r.x && r.height <= height - r.y);
}

BlockLimits limits_of(const BlockMatchingOptions& o) {
  const int side = 2 * o.radius + 1;
  const double area = side * side;
  const auto clamped = [](double sum) {
    return sum < kNoBlockCost ? static_cast<std::uint32_t>(sum) : kNoBlockCost;
  };
  return {
      o.max_mean_cost > 0 ? clamped(std::floor(static_cast<double>(o.max_mean_cost) * area)) : kNoBlockCost,
      clamped(std::ceil(static_cast<double>(o.min_texture) * area)), o.uniqueness};
}

int floor_half(int value) {
  return value >= 0 ? value / 2 : -((1 - value) / 2);
}

}  // namespace

std::vector<BlockLevel> plan_block_levels(int width, int height, DisparityRange range,
                                          const BlockMatchingOptions& options) {
  check_options(width, height, options);
  Region region = options.region;
  if (region.width == 0 || region.height == 0) region = {0, 0, width, height};
  std::vector<BlockLevel> levels;
  for (int coarser = options.pyramid_levels - 1; coarser >= 0; --coarser) {
    const int part = 1 << coarser;
    const DisparityRange searched{range.min, (range.count + part - 1) / part};
    levels.push_back(
        {width, height, searched, searched.count * options.steps_per_pixel, region, limits_of(options)});
    const int min = floor_half(range.min), last = floor_half(range.min + range.count - 1);
    range = {min, last - min + 1};
    const int right = (region.x + region.width - 1) / 2, bottom = (region.y + region.height - 1) / 2;
    region = {region.x / 2, region.y / 2, right - region.x / 2 + 1, bottom - region.y / 2 + 1};
    width = coarser_size(width);
    height = coarser_size(height);
  }
  return levels;
}

}  // namespace recon
