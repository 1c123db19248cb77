#include "reference/holes_reference.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace recon::reference {

namespace {

/// Distance and depth of the first known pixel in a direction.
std::optional<std::pair<int, double>> look(ImageView<const float> depth, int x, int y, int dx, int dy,
                                           int reach) {
  for (int k = 1; k <= reach; ++k) {
    const int u = x + k * dx, v = y + k * dy;
    if (u < 0 || v < 0 || u >= depth.width || v >= depth.height) return {};
    if (depth(u, v) == depth(u, v)) return std::pair(k, static_cast<double>(depth(u, v)));
  }
  return {};
}

}  // namespace

Image<float> interpolated_depths(ImageView<const float> depth, int reach) {
  Image<float> result(depth.width, depth.height, std::numeric_limits<float>::quiet_NaN());
  const std::pair<int, int> directions[] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x) {
      if (depth(x, y) == depth(x, y)) continue;
      std::vector<double> found;
      for (const auto& [dx, dy] : directions) {
        const auto after = look(depth, x, y, dx, dy, reach), before = look(depth, x, y, -dx, -dy, reach);
        if (!after || !before) continue;
        // The line in inverse depth through both, at the pixel.
        const double w1 = 1 / after->second, w0 = 1 / before->second;
        const double slope = (w1 - w0) / (after->first + before->first);
        const double here = w0 + slope * before->first;
        if (std::fabs(slope) < 0.005 * here) found.push_back(here);
      }
      if (found.size() < 3) continue;
      double sum = 0, low = found[0], high = found[0];
      for (const double w : found) sum += w, low = std::fmin(low, w), high = std::fmax(high, w);
      if (high - low < 0.01 * low) result(x, y) = static_cast<float>(static_cast<double>(found.size()) / sum);
    }
  return result;
}

}  // namespace recon::reference
