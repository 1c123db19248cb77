#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "methods/backend.hpp"
#include "session/options/options.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/scene_input.hpp"
#include "session/scene/workspace.hpp"

namespace recon {

/// The work on one rectified pair.
struct PairRun {
  const SessionOptions& options;
  PairFiles files;
  Workspace workspace;
  std::size_t memory_limit = 0;       ///< bytes of host memory for the whole program
  int threads = 1;                    ///< that the program may use
  std::function<Backend&()> backend;  ///< waits until the device is open
};

/// The report of a pair.
struct PairReport {
  nlohmann::json object;  ///< report.json
  std::string text;       ///< summary in a line or two
};

/// The plan: sizes, disparities, memory, and the time of the matching. Writes no results.
/// @throws InputError, UsageError, OutOfMemory
PairReport plan_pair(const PairRun& run);

/// Matches the pair and writes disparity.pfm, disparity.png and preview.png, with a calibration depth.pfm and
/// fused.ply, and the reports; finished and unchanged results are kept.
/// @throws InputError when nothing matches, or a calibration gives no points
/// @throws UsageError, OutOfMemory, OutputError, DeviceError, Interrupted
PairReport run_pair(const PairRun& run);

}  // namespace recon
