#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/error.hpp"

namespace recon {

/// The value at or just below `share` in [0, 1] of the ordered values; reorders them. They must not be empty.
template <class T>
T lower_quantile(std::vector<T>& values, double share) {
  EXPECTS(!values.empty());
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace recon
