#pragma once

#include <array>
#include <charconv>
#include <string>

#include "core/error.hpp"

namespace recon {

/// The shortest decimal text of a number that is read back as the same number.
template <class T>
std::string decimal(T value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// @throws UsageError unless low <= value <= high
template <class T>
void expect_range(const char* option, T value, T low, T high) {
  if (value >= low && value <= high) return;
  throw UsageError(option + (" is " + decimal(value)) + "; it must lie between " + decimal(low) + " and " +
                   decimal(high));
}

/// @throws UsageError unless `value` is odd and between low and high
inline void expect_odd(const char* option, int value, int low, int high) {
  expect_range(option, value, low, high);
  if (value % 2 == 0)
    throw UsageError(std::string(option) + " is " + std::to_string(value) + "; it must be odd");
}

}  // namespace recon
