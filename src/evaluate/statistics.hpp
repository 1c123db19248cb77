#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace recon {

/// `part / whole`; 0 if `whole` is 0.
template <class A, class B>
double share(A part, B whole) {
  return whole == B(0) ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The arithmetic mean, summed in order in double; NaN without values.
template <class T>
double mean(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

/// The median, the mean of the middle two for an even number of values; NaN without values. Values are not
/// NaN.
template <class T>
double median(std::vector<T> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
}

}  // namespace recon
