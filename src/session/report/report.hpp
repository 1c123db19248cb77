#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "session/plan/step_clock.hpp"
#include "session/scene/depth_histogram.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_job.hpp"

namespace recon {

/// The plan of a scene as an object, and as text for people: lines of about 80 columns, or with --verbose of
/// all sources.
nlohmann::json plan_json(const SceneJob& job, const SceneWork& work, const TimePlan& time);
std::string plan_text(const SceneJob& job, const SceneWork& work, const TimePlan& time);

/// Predicted seconds by step, a view and in all.
nlohmann::json time_json(const TimePlan& time);

/// What was done with a scene and what came of it: settings, version, device, views, times, warnings. Times
/// are of the work that is in the results, also if an earlier run did it; "elapsed" is the time of this run.
nlohmann::json report_json(const SceneJob& job, const std::string& device, const StepTimes& times);

/// What every report says of the program and of when it ran.
/// @param commit  of the program; empty: unknown
nlohmann::json program_json(const std::string& commit, const std::string& device);

/// The record of a step of a view; null where it has none.
inline const StepRecord* record_of(const ScenePlan& plan, const ResultStore& results, Step step, int view) {
  return results.get({step, plan.view(view).output_name});
}

/// How often a view has which depths after the check across views; empty where it has none.
DepthHistogram checked_depths(const ScenePlan& plan, const ResultStore& results, int view);

/// The file of a run's report, or of its shard, such as report.json.
std::filesystem::path report_file(const Workspace& workspace, const Shard& shard, const char* extension);

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

/// Sets aside the reports of an earlier run, which do not hold for a run that fails or is interrupted.
void set_reports_aside(const Workspace& workspace, const Shard& shard);

/// Keeps the times of a run that fails or is interrupted for the one that goes on. A failure is ignored.
void keep_times(const RunReport& run, const StepTimes& times) noexcept;

/// Where a report of an earlier run is meanwhile.
std::filesystem::path set_aside(const std::filesystem::path& report);

}  // namespace recon
