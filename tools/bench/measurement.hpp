#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/image.hpp"
#include "cuda/testing/timing.hpp"

namespace recon {

using cuda::spread_of;

/// What `work` takes.
inline double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The milliseconds of `repeats` runs of each work. They take turns, so that all meet the same machine; the
/// first round warms up.
inline std::vector<std::vector<double>> time_in_turns(int repeats,
                                                      const std::vector<std::function<void()>>& works) {
  std::vector<std::vector<double>> times(works.size());
  for (int round = -1; round < repeats; ++round)
    for (std::size_t i = 0; i < works.size(); ++i)
      if (const double time = milliseconds(works[i]); round >= 0) times[i].push_back(time);
  return times;
}

/// `operation(a, b)` of the measurements of each round.
template <class Operation>
std::vector<double> by_round(const std::vector<double>& a, const std::vector<double>& b,
                             const Operation& operation) {
  std::vector<double> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), operation);
  return result;
}

inline std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  return by_round(a, b, std::divides<>());
}

/// Measurements as all benchmarks print them.
inline nlohmann::ordered_json to_json(const cuda::TimeSpread& s) {
  return {{"median", s.median}, {"p10", s.p10}, {"p90", s.p90}};
}
inline nlohmann::ordered_json to_json(const std::vector<double>& values) {
  return to_json(spread_of(values));
}

/// The number of pixels where two maps are not equal; unknown is NaN.
inline std::size_t differing_pixels(const Image<float>& a, const Image<float>& b) {
  std::size_t count = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      count += a(x, y) != b(x, y) && !(std::isnan(a(x, y)) && std::isnan(b(x, y)));
  return count;
}

/// Bytes read and written per second, as measured by copies on an H200.
inline constexpr double kH200BytesPerSecond = 4.294e12;

}  // namespace recon
