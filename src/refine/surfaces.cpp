#include "refine/surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "refine/patches.hpp"
#include "refine/surface_step.hpp"

namespace recon {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// The disparities of reliable pixels; others are unknown.
Image<float> reliable_only(ImageView<const float> disparity, ImageView<const Outlier> outliers) {
  Image<float> reliable(disparity.width, disparity.height);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      reliable(x, y) = outliers(x, y) == Outlier::kNone ? disparity(x, y) : kUnknown;
  return reliable;
}

/// Fits a plane to the surface of a pixel within kFitReach.
class SurfaceFit {
 public:
  explicit SurfaceFit(ImageView<const float> reliable) : reliable_(reliable), seen_(kSide * kSide) {}

  PlaneFit around(int x, int y) {
    std::fill(seen_.begin(), seen_.end(), std::uint8_t{0});
    PlaneFit fit;
    const float centre = reliable_(x, y);
    pixels_.assign(1, {0, 0});
    seen_[index(0, 0)] = 1;
    for (std::size_t next = 0; next < pixels_.size(); ++next) {
      const auto [u, v] = pixels_[next];
      const float value = reliable_(x + u, y + v);
      fit.add(u, v, static_cast<double>(value - centre));
      for (const auto& [i, j] : {std::pair{u - 1, v}, {u + 1, v}, {u, v - 1}, {u, v + 1}}) {
        if (std::max(std::abs(i), std::abs(j)) > kFitReach || !reliable_.contains(x + i, y + j)) continue;
        std::uint8_t& seen = seen_[index(i, j)];
        if (seen || !same_surface(value, reliable_(x + i, y + j))) continue;
        seen = 1;
        pixels_.emplace_back(i, j);
      }
    }
    return fit;
  }

 private:
  static constexpr int kSide = 2 * kFitReach + 1;
  static std::size_t index(int u, int v) {
    return static_cast<std::size_t>((v + kFitReach) * kSide + u + kFitReach);
  }

  ImageView<const float> reliable_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::pair<int, int>> pixels_;
};

}  // namespace

void invalidate_small_segments(ImageView<const float> disparity, ImageView<Outlier> outliers,
                               int min_pixels) {
  EXPECTS(disparity.width == outliers.width && disparity.height == outliers.height);
  Image<float> reliable = reliable_only(disparity, outliers);
  remove_small_patches(reliable.view(), min_pixels, same_surface);
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x)
      if (outliers(x, y) == Outlier::kNone && std::isnan(reliable(x, y)))
        outliers(x, y) = Outlier::kOcclusion;
}

void extend_surfaces(ImageView<float> disparity, ImageView<Outlier> outliers, int min, int count) {
  EXPECTS(disparity.width == outliers.width && disparity.height == outliers.height && count >= 1);
  const Image<float> reliable = reliable_only(disparity, outliers);
  parallel_for(disparity.height, [&](int y) {
    SurfaceFit surface(reliable.view());
    PlaneFit plane;
    int fitted = -1, known = -1;  // columns of the pixel of `plane` and of the last reliable pixel
    for (int x = disparity.width - 1; x >= 0; --x) {
      if (!std::isnan(reliable(x, y))) known = x;
      if (known < 0 || known == x || !is_beyond_right_view(x, reliable(known, y))) continue;
      if (fitted != known) plane = surface.around(known, y), fitted = known;
      disparity(x, y) = carried_disparity(reliable(known, y), plane, x - known, min, count);
      outliers(x, y) = Outlier::kNone;
    }
  });
}

}  // namespace recon
