#include "match/patch.hpp"

#include <cmath>

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

}  // namespace recon
