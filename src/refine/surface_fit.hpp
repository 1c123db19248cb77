#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "refine/surface_step.hpp"

namespace recon {

/// Fits planes to the surfaces of a disparity map: to the known pixels that are connected with a pixel, see
/// same_surface, within `reach` columns and rows of it.
class SurfaceFit {
 public:
  /// @param disparity  unknown is NaN; must outlive this
  /// @param step       pixels from one sample to the next, along columns and rows
  SurfaceFit(ImageView<const float> disparity, int reach, int step)
      : disparity_(disparity),
        reach_(reach),
        step_(step),
        seen_(static_cast<std::size_t>(2 * reach + 1) * static_cast<std::size_t>(2 * reach + 1)) {}

  /// The surface of (x, y), which is known: columns, rows and disparities relative to it.
  PlaneFit around(int x, int y) {
    std::fill(seen_.begin(), seen_.end(), std::uint8_t{0});
    PlaneFit fit;
    const float centre = disparity_(x, y);
    pixels_.assign(1, {0, 0});
    seen_[index(0, 0)] = 1;
    for (std::size_t next = 0; next < pixels_.size(); ++next) {
      const auto [u, v] = pixels_[next];
      const float value = disparity_(x + u, y + v);
      fit.add(u, v, static_cast<double>(value - centre));
      for (const auto& [du, dv] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const int i = u + step_ * du, j = v + step_ * dv;
        if (std::max(std::abs(i), std::abs(j)) > reach_ || !disparity_.contains(x + i, y + j)) continue;
        std::uint8_t& seen = seen_[index(i, j)];
        if (seen || !same_surface(value, disparity_(x + i, y + j))) continue;
        seen = 1;
        pixels_.emplace_back(i, j);
      }
    }
    return fit;
  }

 private:
  std::size_t index(int u, int v) const {
    return static_cast<std::size_t>((v + reach_) * (2 * reach_ + 1) + u + reach_);
  }

  ImageView<const float> disparity_;
  int reach_, step_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::pair<int, int>> pixels_;
};

}  // namespace recon
