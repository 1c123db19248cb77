#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "session/options/options.hpp"
#include "session/plan/step_clock.hpp"
#include "session/resume/result_store.hpp"

namespace recon {

// The times of the work that is in the results, whichever run did it.

/// A step as a report has it.
struct MeasuredStep {
  std::string name;
  double seconds = 0;
  int views = 1;      ///< that it was done for; 1 for steps that are not done view by view
  bool kept = false;  ///< nothing of it was done by this run
};

/// What a report says of the run that did the work.
struct MeasuredRun {
  std::vector<MeasuredStep> steps;  ///< in their order
  nlohmann::json about;             ///< version, date, commit and device, as far as they are known
};

/// What the report of an earlier run says; nothing where there is none or it is damaged.
MeasuredRun read_measured_run(const std::filesystem::path& report);

/// Whether this run did nothing that leaves a record.
bool kept_all(const ResultStore& results);

/// The steps of this run: one that did all of its views has the measured time; one that kept some of them has
/// the time of the earlier run for these as well, and one that kept all of them that alone. A run that kept
/// everything is said to be the earlier one.
/// @param about  this run
MeasuredRun measured_run(const ResultStore& results, const StepTimes& times, nlohmann::json about,
                         const MeasuredRun& earlier);

/// The same for a pair, which is kept or not.
MeasuredRun measured_run(bool kept, const StepTimes& times, nlohmann::json about, const MeasuredRun& earlier);

/// Adds "steps", "seconds" by step and in all, and what there is about the run to a report.
void add_measured_run(nlohmann::json& report, const MeasuredRun& run);

/// What every report says of the program and of when it ran.
/// @param commit  of the program; empty: unknown
nlohmann::json program_json(const std::string& commit, const std::string& device);

/// Values of options by their names, see SessionOptions::resolved_values.
nlohmann::json option_values(const std::vector<std::pair<const Option*, std::string>>& texts);

/// What is left to do where all results of an earlier run serve, in the plans of scenes and of pairs.
inline constexpr const char* kNothingToDo = "  to do: nothing, all is finished and kept\n";

}  // namespace recon
