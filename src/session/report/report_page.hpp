#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/plan/plan.hpp"
#include "session/plan/step_clock.hpp"
#include "session/resume/result_store.hpp"

namespace recon {

/// What the report of a run, or of its shard, is of.
struct RunReport {
  const Workspace& workspace;
  const ResultStore& results;
  Shard shard;
  std::string commit;  ///< of the program; empty: unknown
};

/// Writes what `report_json` says, and the same as a web page that opens without a network. Where nothing was
/// done, the page of the run that did it is kept, which has its times.
/// @throws InputError when the cloud cannot be read, OutputError
void write_reports(const RunReport& run, const ScenePlan& plan, nlohmann::json report);

/// Keeps the times of a run that fails or is interrupted for the one that goes on. A failure is ignored.
void keep_times(const RunReport& run, const StepTimes& times) noexcept;

}  // namespace recon
