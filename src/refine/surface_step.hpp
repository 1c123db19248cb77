#pragma once

#include "core/hd.hpp"

namespace recon {

/// Min pixels of a reliable surface.
inline constexpr int kMinSurface = 30;

inline constexpr int kFitReach = 34;  ///< max arm length of the AD-Census system
inline constexpr int kMinFit = 50;    ///< min pixels of a plane fit

/// Whether two neighbours belong to the same surface; unknown disparities (NaN) belong to none.
RECON_HD bool same_surface(float a, float b) {
  const float difference = a < b ? b - a : a - b;
  return difference <= 1.0f;
}

/// Least-squares plane through pixels given relative to one of them. Sums of integers are exact, so their
/// order is irrelevant.
struct PlaneFit {
  double n = 0, u = 0, v = 0, d = 0, uu = 0, uv = 0, vv = 0, ud = 0, vd = 0;

  RECON_HD void add(double column, double row, double disparity) {
    n += 1, u += column, v += row, d += disparity;
    uu += column * column, uv += column * row, vv += row * row;
    ud += column * disparity, vd += row * disparity;
  }

  /// The plane at (column, 0); 0 if there are fewer than kMinFit pixels or they are collinear.
  RECON_HD double at(double column) const {
    double b, c;
    if (!slopes(kMinFit, b, c)) return 0.0;
    return (d - b * u - c * v) / n + b * column;
  }

  /// The slopes along columns and rows; false if there are fewer than `min_pixels` or they are collinear.
  RECON_HD bool slopes(int min_pixels, double& along_columns, double& along_rows) const {
    if (n < min_pixels) return false;
    const double suu = uu - u * u / n, suv = uv - u * v / n, svv = vv - v * v / n;
    const double sud = ud - u * d / n, svd = vd - v * d / n;
    const double determinant = suu * svv - suv * suv;
    if (!(determinant > 1e-3 * n * n)) return false;
    along_columns = (sud * svv - svd * suv) / determinant;
    along_rows = (svd * suu - sud * suv) / determinant;
    return true;
  }
};

/// Whether the match of a pixel of column x with this disparity lies outside the right view.
RECON_HD bool is_beyond_right_view(int x, float disparity) {
  return static_cast<float>(x) - disparity < 0.0f;
}

/// A disparity extrapolated along the plane of its surface, clamped to min .. min + count - 1.
/// @param column  column of the target pixel relative to the source pixel
RECON_HD float carried_disparity(float disparity, const PlaneFit& plane, int column, int min, int count) {
  const float lowest = static_cast<float>(min), highest = static_cast<float>(min + count - 1);
  const float carried = disparity + static_cast<float>(plane.at(column));
  return carried < lowest ? lowest : (highest < carried ? highest : carried);
}

}  // namespace recon
