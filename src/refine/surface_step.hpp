#pragma once

#include "core/hd.hpp"

namespace recon {

/// Pixels that a surface needs to be trusted.
inline constexpr int kMinSurface = 30;

inline constexpr int kFitReach = 34;  ///< as far as the arms of the AD-Census system reach
inline constexpr int kMinFit = 50;    ///< pixels that a plane is fitted to

/// Whether two neighbours belong to one surface; unknown disparities (NaN) to none.
RECON_HD bool same_surface(float a, float b) {
  const float difference = a < b ? b - a : a - b;
  return difference <= 1.0f;
}

/// A plane through pixels given relative to one of them, by least squares. Of whole numbers the sums are
/// exact, so that their order does not matter.
struct PlaneFit {
  double n = 0, u = 0, v = 0, d = 0, uu = 0, uv = 0, vv = 0, ud = 0, vd = 0;

  RECON_HD void add(double column, double row, double disparity) {
    n += 1, u += column, v += row, d += disparity;
    uu += column * column, uv += column * row, vv += row * row;
    ud += column * disparity, vd += row * disparity;
  }

  /// The plane at (column, 0); 0 where there are fewer than kMinFit pixels or these lie on a line.
  RECON_HD double at(double column) const {
    if (n < kMinFit) return 0.0;
    const double suu = uu - u * u / n, suv = uv - u * v / n, svv = vv - v * v / n;
    const double sud = ud - u * d / n, svd = vd - v * d / n;
    const double determinant = suu * svv - suv * suv;
    if (!(determinant > 1e-3 * n * n)) return 0.0;
    const double b = (sud * svv - svd * suv) / determinant, c = (svd * suu - sud * suv) / determinant;
    return (d - b * u - c * v) / n + b * column;
  }
};

/// Whether the right view does not see a pixel of column x, had it this disparity.
RECON_HD bool is_beyond_right_view(int x, float disparity) {
  return static_cast<float>(x) - disparity < 0.0f;
}

/// A disparity carried on along the plane through its surroundings, kept within min .. min + count - 1.
/// @param column  of the pixel that takes it, relative to that which has it
RECON_HD float carried_disparity(float disparity, const PlaneFit& plane, int column, int min, int count) {
  const float least = static_cast<float>(min), greatest = static_cast<float>(min + count - 1);
  const float carried = disparity + static_cast<float>(plane.at(column));
  return carried < least ? least : (greatest < carried ? greatest : carried);
}

}  // namespace recon
