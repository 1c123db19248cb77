#pragma once

#include "tools/bench/aggregation_benchmark.hpp"

namespace recon {

/// The GPU's part of run_aggregation_benchmark: each aggregator by radius on each set and on a larger made
/// volume, with the share of the bandwidth or of the arithmetic and of each of the four steps.
/// @throws InputError when a set's images are not there
nlohmann::ordered_json run_aggregation_on_gpu(const AggregationBenchmark& benchmark);

}  // namespace recon
