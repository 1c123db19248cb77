#include "fuse/islands.hpp"

#include <algorithm>
#include <cmath>

#include "core/connected_runs.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr double kMaxArea = 4e-4;  ///< of an island, in units of fx fy
constexpr int kMaxGap = 10;        ///< between the fragments of a region, pixels
constexpr float kMaxStep = 0.02f;  ///< relative difference of neighbouring depths
constexpr int kAgreeing = 2;       ///< sources that agree on a pixel
constexpr double kMinShare = 0.3;  ///< of such pixels, if a small region is a surface

}  // namespace

void remove_islands(const CheckedMaps& maps, ImageView<const Agreement> agreement, const Pinhole& camera,
                    int min_size) {
  const double area = kMaxArea * camera.fx * camera.fy;
  remove_regions(
      maps.depth, kMaxGap, [](float a, float b) { return std::abs(a - b) <= kMaxStep * std::min(a, b); },
      [&](int x, int y) { return agreement(x, y).agree >= kAgreeing; },
      [area, min_size](int size, int seen) {
        return size < min_size || (size < area && seen < kMinShare * size);
      });
  parallel_for(maps.depth.height, [&](int y) {
    for (int x = 0; x < maps.depth.width; ++x) {
      if (!std::isnan(maps.depth(x, y))) continue;
      maps.normal(x, y) = {kUnknown, kUnknown, kUnknown};
      maps.confidence(x, y) = kUnknown;
    }
  });
}

}  // namespace recon
