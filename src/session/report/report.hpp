#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/plan/plan_time.hpp"
#include "session/plan/step_clock.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// `value` by a format of printf.
std::string number(double value, const char* format);

/// Seconds by step and in all.
nlohmann::json seconds_json(const StepTimes& times);

/// Pieces of the reports' web pages, which need nothing but themselves.

/// Text as it stands between tags and in attributes.
std::string html_escaped(const std::string& text);

/// The path of a file as an address relative to the page.
std::string html_link(const std::string& file);

/// All up to the first heading.
std::string html_head();

/// A list of warnings with its heading; nothing when there are none.
std::string html_warnings(const nlohmann::json& warnings);

/// The options with their heading.
std::string html_options(const nlohmann::json& options);

/// The plan of a scene as an object, and as text for people.
nlohmann::json plan_json(const SceneRun& run, const TimePlan& time);
std::string plan_text(const SceneRun& run, const TimePlan& time);

/// Predicted seconds by step, a view and in all.
nlohmann::json time_json(const TimePlan& time);

/// What was done with a scene and what came of it: settings, version, device, views, times, warnings.
nlohmann::json report_json(const SceneRun& run, const std::string& device, const StepTimes& times);

/// The same as a web page that needs nothing but itself.
std::string report_html(const nlohmann::json& report);

}  // namespace recon
