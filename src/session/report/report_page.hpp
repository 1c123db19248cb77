#pragma once

#include <nlohmann/json.hpp>

#include "session/plan/step_clock.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

/// Writes what `report_json` says, and the same as a web page that opens without a network. Where nothing was
/// done, the page of the run that did it is kept, which has its times.
/// @throws InputError when the cloud cannot be read, OutputError
void write_reports(const SceneJob& job, nlohmann::json report);

/// Keeps the times of a run that fails or is interrupted for the one that goes on. A failure is ignored.
void keep_times(const SceneJob& job, const StepTimes& times) noexcept;

}  // namespace recon
