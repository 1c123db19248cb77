#pragma once

#include <optional>
#include <string>

#include "predict/performance_model.hpp"
#include "session/plan/step_clock.hpp"
#include "session/scene/scene_job.hpp"
#include "session/scene/scene_work.hpp"

namespace recon {

/// Source of a predicted time.
enum class TimeSource {
  kShipped,      ///< costs measured on other machines
  kCalibration,  ///< matching was calibrated on this machine, other steps were not
  kRuns,         ///< earlier runs on this machine
};

/// What a run would take with smaller images.
struct SmallerImages {
  int max_image_size = 0;
  double seconds = 0;
};

/// The predicted time of the unfinished work of a scene.
struct TimePlan {
  StepTimes steps;    ///< by the names of the report's steps
  double total = 0;   ///< of all steps, seconds
  double a_view = 0;  ///< of a depth map that is to be estimated; 0 if none is
  TimeSource source = TimeSource::kShipped;
  std::optional<SmallerImages> smaller = {};  ///< of a long run, where they take less than half the time
};

/// Measured times at the start of a run, seconds.
struct BeginningTimes {
  double start = 0;    ///< from the start of the process to that of the scene
  double reading = 0;  ///< the model, and making the plan
  double opening = 0;  ///< the devices, which overlaps with reading and undistorting
};

/// The --max-image-size with which no image is larger than with --quality normal. It is one of photos, of
/// which the faces of wide ones are parts.
int normal_photo_side(const Scene& scene);

/// The key of the calibration of these backends.
CalibrationKey calibration_key(const Backends& backends, int threads);

/// Predicts the time of a run: of the matching by the calibration of its stages where there is one, else by
/// shipped figures, of the steps around it by shipped figures, all of them times what earlier runs on this
/// machine took in proportion. Nothing is measured.
TimePlan plan_time(const SceneJob& job, const SceneWork& work, const Backends& backends,
                   const PerformanceModel& model, const BeginningTimes& beginning);

/// Sets `smaller` of a plan of plan_time by the same model. The plan of the job is another one meanwhile.
void add_smaller_images(SceneJob& job, const SceneWork& work, const Backends& backends,
                        const PerformanceModel& model, const BeginningTimes& beginning, TimePlan& time);

/// "--max-image-size 1600 would take about 5 min"; empty for a plan without.
std::string smaller_images_text(const TimePlan& time);

/// Adds the times of a finished run to the model, without steps of less than a tenth of a second.
/// @param times  of the run's steps
/// @returns whether any was added
bool learn_times(const SceneJob& job, const SceneWork& work, const Backends& backends, const StepTimes& times,
                 PerformanceModel& model);

}  // namespace recon
