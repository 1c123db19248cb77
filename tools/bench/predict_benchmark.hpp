#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/benchmark_devices.hpp"

namespace recon {

/// Predicted beside measured times of stages, at sizes, radii and numbers of planes that the calibration does
/// not have.
struct PredictBenchmark {
  std::vector<std::string> stages;  ///< of predict_stages(); empty: all that the device has
  bool calibrate = false;           ///< measure again also what is known
  bool calibrate_only = false;
  BenchmarkDevices devices;
};

/// Names of the stages.
std::vector<std::string> predict_stages();

/// Calibrates what is not known yet, keeps it, and measures beside the predictions; the table also goes to
/// standard error.
/// @throws DeviceUnavailable
nlohmann::ordered_json run_predict_benchmark(const PredictBenchmark& benchmark);

}  // namespace recon
