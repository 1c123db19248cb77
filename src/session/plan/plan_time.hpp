#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "predict/calibration_file.hpp"
#include "predict/performance_model.hpp"
#include "session/plan/remaining_work.hpp"
#include "session/plan/step_clock.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// Where the seconds of a prediction come from.
enum class TimeSource {
  kShipped,      ///< figures of other machines
  kCalibration,  ///< the matching was measured on this machine, the steps around it were not
  kRuns,         ///< earlier runs on this machine
};

/// The predicted time of a scene's run, of what is not finished.
struct TimePlan {
  StepTimes steps;    ///< by the names of the report's steps
  double total = 0;   ///< of all steps, seconds
  double a_view = 0;  ///< of the depth maps, a view that is to be done; 0 where none is
  TimeSource source = TimeSource::kShipped;
};

/// Measured parts of a run that the steps do not depend on, seconds.
struct BeginningTimes {
  double start = 0;    ///< from the start of the process to that of the scene
  double reading = 0;  ///< the model, and making the plan
  double opening = 0;  ///< the devices, which goes on beside reading and undistorting
};

/// The key of the calibration of these backends.
CalibrationKey calibration_key(const std::vector<std::unique_ptr<Backend>>& backends, int threads);

/// Predicts the time of a run: of the matching by the calibration of its stages where there is one, else by
/// shipped figures, of the steps around it by shipped figures, all of them times what earlier runs on this
/// machine took in proportion. Nothing is measured.
TimePlan plan_time(const SceneRun& run, const RemainingWork& work,
                   const std::vector<std::unique_ptr<Backend>>& backends, const PerformanceModel& model,
                   const BeginningTimes& beginning);

/// Notes the times of a run that is over in the model; steps of less than a tenth of a second are left out.
/// @param times  of the run's steps
/// @returns whether anything was noted
bool learn_times(const SceneRun& run, const RemainingWork& work,
                 const std::vector<std::unique_ptr<Backend>>& backends, const StepTimes& times,
                 PerformanceModel& model);

}  // namespace recon
