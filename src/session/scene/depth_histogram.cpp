#include "session/scene/depth_histogram.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

namespace recon {

constexpr int kBinsPerOctave = 8;
/// Floats have no larger or smaller depths.
constexpr int kMaxBin = 150 * kBinsPerOctave;

int depth_bin(double depth) {
  return static_cast<int>(std::floor(kBinsPerOctave * std::log2(depth)));
}

double depth_bin_begin(int bin) {
  return std::exp2(static_cast<double>(bin) / kBinsPerOctave);
}

DepthHistogram depth_histogram(ImageView<const float> depth) {
  DepthHistogram histogram;
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      if (depth(x, y) > 0) ++histogram[depth_bin(static_cast<double>(depth(x, y)))];
  return histogram;
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
