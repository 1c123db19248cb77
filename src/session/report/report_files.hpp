#pragma once

#include <filesystem>

#include "session/resume/output_folder.hpp"

namespace recon {

/// The file of a run's report, or of its shard, such as report.json.
std::filesystem::path report_file(const Workspace& workspace, const Shard& shard, const char* extension);

/// Sets aside the reports of an earlier run, which do not hold for a run that fails or is interrupted.
void set_reports_aside(const Workspace& workspace, const Shard& shard);

/// Where a report of an earlier run is meanwhile.
std::filesystem::path set_aside(const std::filesystem::path& report);

}  // namespace recon
