#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "session/pair/pair_input.hpp"
#include "session/plan/step_clock.hpp"
#include "session/report/measured_steps.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/result_store.hpp"
#include "session/resume/step_record.hpp"
#include "session/scene/plan_memory.hpp"

namespace recon {

/// The plan of a pair as an object, and as text for people.
/// @param output   bytes on the disk
/// @param results  in which the pair has been looked up
/// @param seconds  of the matching
nlohmann::json pair_plan_json(const PairPlan& plan, const Workspace& workspace, const MemoryPlan& memory,
                              std::uint64_t output, double seconds);
std::string pair_plan_text(const PairPlan& plan, const Workspace& workspace, const MemoryPlan& memory,
                           const ResultStore& results, double seconds);

/// What was done with a pair and what came of it, as an object without the options, as a web page, and as
/// lines for people.
/// @param measured  the run that did it
/// @param times     of this run, which may have kept the results
nlohmann::json pair_report_json(const PairPlan& plan, const Workspace& workspace, const StepRecord& record,
                                const MeasuredRun& measured, const StepTimes& times);
/// The page shows the photo, the disparity and, where there is one, the cloud; pictures are files beside it.
/// @throws InputError when the cloud cannot be read
std::string pair_page(nlohmann::json report, const PairPlan& plan, const Workspace& workspace);
std::string pair_summary(const nlohmann::json& report);

}  // namespace recon
