#pragma once

#include <limits>

#include "core/volume.hpp"

namespace recon {

/// Whether plane d has samples of infinite cost.
inline bool has_gaps(VolumeView<const float> costs, int d) {
  for (int y = 0; y < costs.height; ++y) {
    const float* row = costs.row(y, d);
    int infinite = 0;
    for (int x = 0; x < costs.width; ++x) infinite += row[x] > std::numeric_limits<float>::max();
    if (infinite > 0) return true;
  }
  return false;
}

}  // namespace recon
