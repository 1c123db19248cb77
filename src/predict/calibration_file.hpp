#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "predict/performance_model.hpp"

namespace recon {

/// Identifies a calibration, which holds for one device, version and number of threads.
struct CalibrationKey {
  std::string device;   ///< as Backend::name says it
  int threads = 0;      ///< of the host
  std::string version;  ///< of the program
};

/// Where calibrations are kept: `reconstruct` in $XDG_CACHE_HOME, or in $HOME/.cache; empty where neither
/// variable is an absolute path.
std::filesystem::path calibration_folder();

/// The file of a calibration in that folder; empty without a folder.
std::filesystem::path calibration_path(const CalibrationKey& key);

/// The measurements as JSON.
std::string calibration_text(const CalibrationKey& key, const PerformanceModel& model);

/// Parses the text of `calibration_text`.
/// @param file  name in messages
/// @throws InputError if it is damaged or has another key
PerformanceModel parse_calibration(std::string_view text, const CalibrationKey& key, const std::string& file);

/// The stored calibration; empty if there is none or, with a warning, if it cannot be used.
PerformanceModel load_calibration(const CalibrationKey& key);

/// Replaces the stored calibration; warns if it cannot be written.
void save_calibration(const CalibrationKey& key, const PerformanceModel& model);

}  // namespace recon
