#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace recon {

/// Coefficients in ascending powers.
using Polynomial = std::vector<double>;

/// The value at x. @param p  a Polynomial, or an array of as many coefficients
template <class Coefficients>
double evaluate(const Coefficients& p, double x) {
  double value = 0;
  for (std::size_t i = p.size(); i-- > 0;) value = value * x + p[i];
  return value;
}

inline Polynomial derivative(const Polynomial& p) {
  Polynomial d(p.empty() ? 0 : p.size() - 1);
  for (std::size_t i = 1; i < p.size(); ++i) d[i - 1] = static_cast<double>(i) * p[i];
  return d;
}

inline Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial c(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
  return c;
}

inline Polynomial difference(Polynomial a, const Polynomial& b) {
  a.resize(std::max(a.size(), b.size()), 0.0);
  for (std::size_t i = 0; i < b.size(); ++i) a[i] -= b[i];
  return a;
}

/// The sign changes of `p` in [lo, hi], ascending. Between two extrema there is at most one.
inline std::vector<double> sign_changes(Polynomial p, double lo, double hi) {
  while (!p.empty() && p.back() == 0.0) p.pop_back();
  if (p.size() < 2) return {};
  std::vector<double> knots = sign_changes(derivative(p), lo, hi);
  knots.insert(knots.begin(), lo);
  knots.push_back(hi);
  std::vector<double> roots;
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    double a = knots[i], b = knots[i + 1];
    const bool positive = evaluate(p, a) > 0;
    if (positive == (evaluate(p, b) > 0)) continue;
    for (double m = 0.5 * (a + b); a < m && m < b; m = 0.5 * (a + b))
      ((evaluate(p, m) > 0) == positive ? a : b) = m;
    roots.push_back(a);
  }
  return roots;
}

/// The largest x <= hi such that `p` is positive on [0, x).
inline double positive_until(const Polynomial& p, double hi) {
  if (!(evaluate(p, 0) > 0)) return 0;
  const std::vector<double> roots = sign_changes(p, 0, hi);
  return roots.empty() ? hi : roots.front();
}

/// q(r) = p(r^2).
template <std::size_t N>
Polynomial in_powers_of_r(const std::array<double, N>& p) {
  Polynomial q(2 * N - 1, 0.0);
  for (std::size_t i = 0; i < N; ++i) q[2 * i] = p[i];
  return q;
}

}  // namespace recon
