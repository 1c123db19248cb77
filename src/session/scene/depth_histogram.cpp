#include "session/scene/depth_histogram.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"

namespace recon {

constexpr int kBinsPerOctave = 8;
/// Floats have no larger or smaller depths.
constexpr int kMaxBin = 150 * kBinsPerOctave;

int depth_bin(double depth) {
  // Where the bins of an octave begin, in the unit of std::frexp.
  static const std::array<double, kBinsPerOctave> kBegins = [] {
    std::array<double, kBinsPerOctave> begins{};
    for (int i = 0; i < kBinsPerOctave; ++i) begins[i] = depth_bin_begin(i) / 2;
    return begins;
  }();
  int exponent = 0;
  const double fraction = std::frexp(depth, &exponent);
  int bin = kBinsPerOctave * (exponent - 1) - 1;
  for (const double begin : kBegins) bin += fraction >= begin ? 1 : 0;
  return bin;
}

double depth_bin_begin(int bin) {
  return std::exp2(static_cast<double>(bin) / kBinsPerOctave);
}

DepthHistogram depth_histogram(ImageView<const float> depth) {
  std::vector<std::uint64_t> counts(2 * kMaxBin + 1);
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      if (depth(x, y) > 0) ++counts[depth_bin(static_cast<double>(depth(x, y))) + kMaxBin];
  DepthHistogram histogram;
  for (int bin = -kMaxBin; bin <= kMaxBin; ++bin)
    if (const std::uint64_t count = counts[bin + kMaxBin]; count > 0) histogram[bin] = count;
  return histogram;
}

double depth_quantile(const DepthHistogram& histogram, double share) {
  EXPECTS(!histogram.empty());
  double total = 0, before = 0;
  for (const auto& bin : histogram) total += static_cast<double>(bin.second);
  for (const auto& [bin, count] : histogram) {
    const double left = share * total - before;
    before += static_cast<double>(count);
    if (before < share * total) continue;
    const double part = std::clamp(left / static_cast<double>(count), 0.0, 1.0);
    return depth_bin_begin(bin) * std::pow(depth_bin_begin(1), part);
  }
  return depth_bin_begin(histogram.rbegin()->first + 1);
}

nlohmann::json histogram_json(const DepthHistogram& histogram) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [bin, count] : histogram) object[std::to_string(bin)] = count;
  return object;
}

DepthHistogram parse_histogram(const nlohmann::json& object) {
  DepthHistogram histogram;
  if (!object.is_object()) return histogram;
  for (const auto& [name, count] : object.items()) {
    int bin = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bin);
    if (error == std::errc() && end == name.data() + name.size() && std::abs(bin) <= kMaxBin &&
        count.is_number_unsigned())
      histogram[bin] = count.get<std::uint64_t>();
  }
  return histogram;
}

}  // namespace recon
