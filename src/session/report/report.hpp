#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/plan/plan_time.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/cloud_view.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// Seconds by step and in all.
nlohmann::json seconds_json(const StepTimes& times);

/// The plan of a scene as an object, and as text for people.
nlohmann::json plan_json(const SceneRun& run, const TimePlan& time);
std::string plan_text(const SceneRun& run, const TimePlan& time);

/// Predicted seconds by step, a view and in all.
nlohmann::json time_json(const TimePlan& time);

/// The cloud as the report shows it; empty where there is none.
/// @throws InputError when its file cannot be read
CloudView view_of_cloud(const SceneRun& run);

/// What was done with a scene and what came of it: settings, version, device, views, times, warnings.
nlohmann::json report_json(const SceneRun& run, const std::string& device, const StepTimes& times);

/// The same as a web page that opens without a network; pictures are files beside it.
/// @param report  of `report_json`
/// @param cloud   may be empty
std::string report_html(const nlohmann::json& report, const CloudView& cloud);

}  // namespace recon
