#include "core/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plain_number.hpp"

namespace recon {

namespace {

/// Whole numbers from 10 on, which have no exponent.
std::string two_digits(double value) {
  constexpr double kFirstWhole = 9.95;
  return value < kFirstWhole ? plain(value, 2) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string duration_text(double seconds) {
  constexpr double kMany = 100, kMinute = 60, kHour = 3600, kMilliseconds = 1000;
  if (seconds < 1) seconds = std::max(std::round(seconds * kMilliseconds), 1.0) / kMilliseconds;
  if (seconds < kMany) return two_digits(seconds) + " s";
  if (seconds < kMany * kMinute) return two_digits(seconds / kMinute) + " min";
  return two_digits(seconds / kHour) + " h";
}

std::string measured_text(double seconds) {
  const double tenths = std::max(std::round(10 * seconds), 1.0);
  return tenths < 100 ? fmt::format("{:.1f} s", tenths / 10) : duration_text(std::round(seconds));
}

}  // namespace recon
