#pragma once

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

/// How often a view has which depths after the check across views; empty where it has none.
DepthHistogram checked_depths(const SceneProducts& products, int view);

}  // namespace recon
