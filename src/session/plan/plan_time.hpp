#pragma once

#include <memory>
#include <vector>

#include "predict/calibration_file.hpp"
#include "predict/performance_model.hpp"
#include "session/plan/step_clock.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// How long a scene's run will take, so far as it is not finished already.
struct TimePlan {
  StepTimes steps;    ///< by the names of the report's steps
  double total = 0;   ///< of all steps, seconds
  double a_view = 0;  ///< of the depth maps, a view that is to be done; 0 where none is
};

/// What was measured of the beginning, which the run will have too, seconds.
struct BeginningTimes {
  double start = 0;    ///< from the start of the process to that of the scene
  double reading = 0;  ///< the model, and making the plan
  double opening = 0;  ///< the devices, which goes on beside reading and undistorting
};

/// What is to be done with a scene.
struct RemainingWork {
  std::vector<int> estimate;  ///< views to match
  std::vector<int> check;     ///< views to check
  std::vector<int> prepare;   ///< photos to undistort and write
  bool fuse = false;
};

/// What a run would do; finished and unchanged results are looked for as by the run itself.
RemainingWork remaining_work(SceneRun& run);

/// What a run that is over did, as far as its states tell: an image was prepared where its view was matched.
RemainingWork work_done(const SceneRun& run);

/// The key of the calibration that tells the times of these backends.
CalibrationKey calibration_key(const std::vector<std::unique_ptr<Backend>>& backends, int threads);

/// Measures what the plan of a scene needs and the model does not know yet; says on the log what goes on.
/// @returns whether anything was measured
bool calibrate_for(const SceneRun& run, const RemainingWork& work,
                   const std::vector<std::unique_ptr<Backend>>& backends, PerformanceModel& model);

/// Tells the time; nothing where the model does not know all that the plan needs.
std::optional<TimePlan> plan_time(const SceneRun& run, const RemainingWork& work,
                                  const std::vector<std::unique_ptr<Backend>>& backends,
                                  const PerformanceModel& model, const BeginningTimes& beginning);

}  // namespace recon
