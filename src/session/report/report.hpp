#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "session/plan/step_clock.hpp"
#include "session/scene/depth_histogram.hpp"
#include "session/scene/plan_time.hpp"
#include "session/scene/scene_job.hpp"
#include "session/scene/scene_work.hpp"

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

/// The end of the last line of a run, by its report: why the result is in doubt, and the number of warnings;
/// empty where there are none.
std::string doubt_and_warnings(const nlohmann::json& report);

/// How often a view has which depths after the check across views; empty where it has none.
DepthHistogram checked_depths(const SceneProducts& products, int view);

/// Why results of earlier runs do not serve, in the plan: a line for each step and cause, with the number of
/// views; empty: there are none.
std::string stale_text(const SceneJob& job, const SceneWork& work);

/// What the run removes, see `removals`, and by --clean.
std::vector<std::string> removed_texts(const SceneJob& job, const SceneWork& work);

/// Writes what `report_json` says, and the same as a web page that opens without a network. Where nothing was
/// done, the page of the run that did it is kept, which has its times.
/// @throws InputError when the cloud cannot be read, OutputError
void write_reports(const SceneJob& job, nlohmann::json report);

/// Keeps the times of a run that fails or is interrupted for the one that goes on. A failure is ignored.
void keep_times(const SceneJob& job, const StepTimes& times) noexcept;

}  // namespace recon
