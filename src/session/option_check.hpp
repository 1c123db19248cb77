#pragma once

#include <sstream>

#include "core/error.hpp"

namespace recon {

/// @throws UsageError unless low <= value <= high
template <class T>
void expect_range(const char* option, T value, T low, T high) {
  if (value >= low && value <= high) return;
  std::ostringstream message;
  message << option << " is " << value << "; it must lie between " << low << " and " << high;
  throw UsageError(message.str());
}

/// @throws UsageError unless `value` is odd and between low and high
inline void expect_odd(const char* option, int value, int low, int high) {
  expect_range(option, value, low, high);
  if (value % 2 == 0)
    throw UsageError(std::string(option) + " is " + std::to_string(value) + "; it must be odd");
}

}  // namespace recon
