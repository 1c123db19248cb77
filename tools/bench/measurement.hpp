#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "cuda/testing/cuda_sweep.hpp"

namespace recon {

/// Median and spread of repeated measurements.
struct Spread {
  double median = 0, low = 0, high = 0;  ///< 50, 10 and 90 % quantile
};

inline Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

/// What `work` takes.
inline double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Measurements as all benchmarks print them.
inline nlohmann::ordered_json to_json(const Spread& s) {
  return {{"median", s.median}, {"p10", s.low}, {"p90", s.high}};
}
inline nlohmann::ordered_json to_json(const std::vector<double>& values) {
  return to_json(spread_of(values));
}
inline nlohmann::ordered_json to_json(const cuda::TimeSpread& s) {
  return {{"median", s.median}, {"p10", s.p10}, {"p90", s.p90}};
}

/// Bytes read and written per second, as measured by copies on an H200.
inline constexpr double kH200BytesPerSecond = 4.294e12;

}  // namespace recon
