#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.hpp"

namespace recon {

/// The value at position `at` of the ordered values; reorders them. They must not be empty.
template <class T>
T ordered_value(std::vector<T>& values, std::ptrdiff_t at) {
  EXPECTS(!values.empty());
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// The value nearest to `share` in [0, 1] of the ordered values, of two the upper one; reorders them. They
/// must not be empty.
template <class T>
T quantile(std::vector<T>& values, double share) {
  return ordered_value(values, std::lround(share * (static_cast<double>(values.size()) - 1)));
}

/// The value at or just below `share`.
template <class T>
T lower_quantile(std::vector<T>& values, double share) {
  return ordered_value(values, static_cast<std::ptrdiff_t>(share * (static_cast<double>(values.size()) - 1)));
}

}  // namespace recon
