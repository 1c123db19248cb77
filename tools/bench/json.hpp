#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cuda/testing/cuda_sweep.hpp"
#include "tools/bench/statistics.hpp"

namespace recon {

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

}  // namespace recon
