#pragma once

#include <cmath>
#include <utility>

namespace recon {

/// sqrt(x^2 + y^2), at most one unit in the last place off; NaN for NaN. std::hypot of glibc has other last
/// bits on processors whose library is compiled with FMA; this is what it computes on x86-64. Source: C. F.
/// Borges, An Improved Algorithm for hypot(a, b), 2019, without FMA.
inline double hypotenuse(double x, double y) {
  double a = std::abs(x), b = std::abs(y);
  if (a < b) std::swap(a, b);
  if (b <= a * 0x1p-54) return a + b;
  // Squares would overflow or vanish.
  if (!(a < 0x1p500 && b > 0x1p-450)) return std::hypot(x, y);
  const double h = std::sqrt(a * a + b * b);
  if (h <= 2 * b) {
    const double more = h - b;
    return h - (a * (2 * more - a) + (more - 2 * (a - b)) * more) / (2 * h);
  }
  const double more = h - a;
  return h - (2 * more * (a - 2 * b) + ((4 * more - b) * b + more * more)) / (2 * h);
}

float hypotenuse(float, float) = delete;  ///< std::hypot of floats has the same bits everywhere

}  // namespace recon
