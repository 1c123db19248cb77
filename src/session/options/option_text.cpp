#include "session/options/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/plain_number.hpp"

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
  std::string unit = lower_case({end, text.data() + text.size()});
  std::erase(unit, ' ');
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
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

int parse_integer(const std::string& text) {
  // Sums and products of few numbers of this size do not overflow.
  constexpr int kMax = 1000000000;
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty() || error == std::errc::invalid_argument)
    throw UsageError("it must be a whole number");
  if (error != std::errc() || value > kMax || value < -kMax)
    throw UsageError("it must lie between -1000000000 and 1000000000");
  return value;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string list_of(const std::vector<std::string>& words, const std::string& last) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i)
    list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " " + last + " ") + words[i];
  return list;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream list(text + ",");
  for (std::string part; std::getline(list, part, ',');) parts.push_back(part);
  return parts;
}

std::string format_box(const std::optional<SceneBox>& box) {
  if (!box) return {};
  const auto& [a, b] = *box;
  return fmt::format("{},{},{},{},{},{}", plain(a.x), plain(a.y), plain(a.z), plain(b.x), plain(b.y),
                     plain(b.z));
}

std::string rounded_box(const SceneBox& box) {
  const std::array<double, 6> numbers = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
  double longest = 0;
  for (int i = 0; i < 3; ++i) longest = std::max(longest, numbers[i + 3] - numbers[i]);
  const double steps = longest > 0 ? std::pow(10.0, 4 - std::floor(std::log10(longest))) : 1e4;
  std::string text;
  for (const double number : numbers)
    text += (text.empty() ? "" : ",") + fmt::format("{:.15g}", std::round(number * steps) / steps + 0.0);
  return text;
}

std::string offset_text(Vec3d offset) {
  if (!(dot(offset, offset) > 0)) return {};
  return fmt::format("{},{},{}", plain(offset.x), plain(offset.y), plain(offset.z));
}

std::string format_region(const Region& region) {
  const auto& [x, y, width, height] = region;
  if (width == 0 || height == 0) return {};
  return fmt::format("{},{},{},{}", x, y, width, height);
}

}  // namespace recon
