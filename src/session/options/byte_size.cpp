#include "session/options/byte_size.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/error.hpp"

namespace recon {

namespace {

constexpr std::string_view kPrefixes = "kmgt";

/// The factor of a unit in lower case; 0 when there is no such unit.
double unit_factor(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  const auto power = kPrefixes.find(unit.front());
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return 0;
}

}  // namespace

std::size_t parse_byte_size(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const double bytes = value * unit_factor(unit);
  if (error != std::errc() || !(bytes >= 1) || bytes > 1e18)
    throw UsageError("it must be a size in bytes, such as 500M or 1.5GiB");
  return static_cast<std::size_t>(bytes);
}

std::string format_byte_size(std::size_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace recon
