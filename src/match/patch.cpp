#include "match/patch.hpp"

#include <cmath>
#include <cstdlib>

namespace recon {

PatchWeights::PatchWeights(int radius) : radius_(radius) {
  EXPECTS(radius >= 1 && radius <= kMaxPatchRadius);
  constexpr double kSpatial = 2 * 5.0 * 5.0, kLevels = 18.0;
  const int side = 2 * radius + 1;
  for (int k = 0; k < patch_samples(radius); ++k) {
    const int dx = k % side - radius, dy = k / side - radius;
    for (int difference = 0; difference < 256; ++difference)
      table_[k * 256 + difference] = static_cast<std::uint8_t>(
          std::lround(kMaxPatchWeight * std::exp(-(dx * dx + dy * dy) / kSpatial - difference / kLevels)));
  }
}

ReferencePatch::ReferencePatch(int radius)
    : offset{}, weight{}, value{}, padded((patch_samples(radius) + 15) / 16 * 16), centre(0) {
  static_assert(patch_samples(kMaxPatchRadius) <= kCapacity);
  const int side = 2 * radius + 1;
  for (int k = 0; k < patch_samples(radius); ++k)
    offset[k] = ((k % side - radius) & 0xFFFF) | (k / side - radius) * 65536;
}

void ReferencePatch::load(ImageView<const std::uint8_t> image, const PatchWeights& weights, int x, int y) {
  const int radius = weights.radius();
  centre = image(x, y);
  sums = {};
  int k = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx, ++k) {
      const bool inside = image.contains(x + dx, y + dy);
      const int r = inside ? image(x + dx, y + dy) - centre : 0;
      const int w = inside ? weights.at(k, std::abs(r)) : 0;
      weight[k] = w;
      value[k] = r & 0xFFFF;
      sums.weight += w, sums.r += w * r, sums.rr += w * r * r;
    }
}

}  // namespace recon
