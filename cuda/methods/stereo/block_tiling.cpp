#include <algorithm>
#include <functional>

#include "cuda/device/grid.hpp"
#include "cuda/methods/stereo/block_device.hpp"

namespace recon::cuda {
namespace {

/// Predicted time of the search, by a model with constants measured on an H200: a cost per column and row of
/// a warp, less for columns and rows that only fill the windows; a multiprocessor with few warps is bound by
/// latency, one with many by its issue slots.
double predicted_time(const DeviceBlock& b, BlockTiling tiling, int multiprocessors, int warps_each) {
  constexpr double kFillColumn = 0.8, kFillRow = 0.15, kWarpsToHideWaits = 12.0;
  const int window = 2 * b.options.radius + 1;
  const double area = (tiling.strip_rows + kFillRow * window) * (tiling.tile_width + kFillColumn * window);
  const int warps =
      divided_up(b.region.width, tiling.tile_width) * divided_up(b.region.height, tiling.strip_rows);
  const int slots = multiprocessors * warps_each;
  const auto wave = [&](int each) { return each > 0 ? std::max<double>(each, kWarpsToHideWaits) : 0.0; };
  return area * (warps / slots * wave(warps_each) + wave(divided_up(warps % slots, multiprocessors)));
}

}  // namespace

BlockTiling chosen_tiling(const DeviceBlock& b, const std::function<int(int tile_width)>& warps_for) {
  constexpr int kMaxGridRows = 65535;
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  BlockTiling best;
  double min_time = 0;
  for (const int width : {16, 32, 48, 64, 96}) {
    BlockTiling tiling;
    tiling.tile_width = std::min(width, b.region.width);
    const int warps = warps_for(tiling.tile_width);
    if (warps == 0 && best.tile_width > 0) break;
    const int slots = std::max(warps, 1) * multiprocessors;
    for (int waves = 1; waves <= 4; ++waves) {
      const int strips = std::max(1, waves * slots / divided_up(b.region.width, tiling.tile_width));
      tiling.strip_rows =
          std::max({divided_up(b.region.height, strips), 2, divided_up(b.region.height, kMaxGridRows)});
      const double time = predicted_time(b, tiling, multiprocessors, std::max(warps, 1));
      if (best.tile_width > 0 && time >= min_time) continue;
      best = tiling;
      min_time = time;
    }
  }
  return best;
}

}  // namespace recon::cuda
