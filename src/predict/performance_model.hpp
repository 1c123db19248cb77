#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "predict/stage_work.hpp"

namespace recon {

/// A task and the time that it took.
struct MeasuredTask {
  StageTask task;
  double seconds = 0;
};

/// Measured seconds of a step of the runs on this machine, and the shipped prediction for the same work.
struct RunTimes {
  double seconds = 0, shipped = 0;
};

/// Predicts the time of a task from measured ones:
///   seconds = efficiency(size) * sum_i cost_i work_i
/// with the counts of stage_work.hpp, costs >= 0 that fit the measured tasks of the same stage and radius
/// best (least squares of the relative errors), and an efficiency near 1 that makes the sum right at each
/// measured size and is interpolated between sizes: by caches and fill a machine does not do all sizes
/// equally well. Between two radii that were measured the times that both predict are interpolated, linearly.
/// Where the counts include the radius, all radii have one set of costs, and each an efficiency of its
/// own. Source: J. Fang, A. L. Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating
/// cost aggregation for real-time stereo matching", ICPADS 2012, section V (a model of the counts, times an
/// efficiency by radius that is measured once).
class PerformanceModel {
 public:
  /// @param seconds  > 0 and finite
  void add(const StageTask& task, double seconds);

  /// Removes the measurements of a stage at a radius.
  void erase(const std::string& stage, int radius);

  /// Whether the times of a stage can be predicted at this radius: it was measured there, or at both a
  /// smaller and a larger one.
  bool knows(const std::string& stage, int radius) const;

  /// Seconds; for a radius beyond those measured that of the nearest one. Deterministic.
  /// @throws std::logic_error when nothing is known of the stage
  double seconds(const StageTask& task) const;

  const std::vector<MeasuredTask>& measured() const { return measured_; }

  /// Records the time of a step of a run. Each later run halves the weight of the earlier ones.
  /// @param seconds, shipped  > 0 and finite
  void learn(const std::string& step, double seconds, double shipped);

  /// Ratio of measured to shipped time of a step; 1 if no run had it.
  double factor(const std::string& step) const;

  const std::map<std::string, RunTimes>& runs() const { return runs_; }

 private:
  std::map<std::string, RunTimes> runs_;
  std::vector<MeasuredTask> measured_;
};

/// Costs >= 0 for which the sums of work come nearest the measured times, in the least squares of the
/// relative errors. A term that no task has costs nothing.
/// @param tasks  at least one, of one stage and radius
std::array<double, StageWork::kTerms> fit_costs(const std::vector<MeasuredTask>& tasks);

/// The time of a call by the costs that ship with the program: measured on two threads of a Xeon with
/// AVX-512 and on an H200, accurate to a factor of two elsewhere. Threads of a CPU are taken to share the
/// work evenly.
/// @param threads  of the CPU; 0: a GPU
double shipped_seconds(const StageTask& task, int threads);

/// Seconds by the model if it knows the stage, else by the shipped costs.
inline double predicted_seconds(const PerformanceModel& model, const StageTask& task, int threads) {
  return model.knows(task.stage, task.radius) ? model.seconds(task) : shipped_seconds(task, threads);
}

/// Costs of the steps around matching, seconds of one thread per unit.
struct HostCosts {
  double photo_pixel = 6e-8;   ///< decoded, and written as it is
  double warped_pixel = 5e-7;  ///< decoded, undistorted and encoded
  double observation = 6e-7;   ///< of the model, undistorted and written
  double map_pixel = 1.1e-7;   ///< prepared and filtered: of a view and of each image that it is matched with
  double checked_pixel = 2.2e-8;  ///< of a view, against each of its sources
  double fused_pixel = 1.9e-8;    ///< of a view, against each view that overlaps with it
  double view_file = 0.01;        ///< fsync of a view's files, per write
};

/// Identifies a calibration, which holds for one device, version and number of threads.
struct CalibrationKey {
  std::string device;   ///< as Backend::name says it
  int threads = 0;      ///< of the host
  std::string version;  ///< of the program
};

/// Where calibrations are kept: `reconstruct` in $XDG_CACHE_HOME, or in $HOME/.cache; empty where neither
/// variable is an absolute path.
std::filesystem::path calibration_folder();

/// The file of a calibration in that folder; empty without a folder.
std::filesystem::path calibration_path(const CalibrationKey& key);

/// The measurements as JSON.
std::string calibration_text(const CalibrationKey& key, const PerformanceModel& model);

/// Parses the text of `calibration_text`.
/// @param file  name in messages
/// @throws InputError if it is damaged or has another key
PerformanceModel parse_calibration(std::string_view text, const CalibrationKey& key, const std::string& file);

/// The stored calibration; empty if there is none or, with a warning, if it cannot be used.
PerformanceModel load_calibration(const CalibrationKey& key);

/// Replaces the stored calibration; warns if it cannot be written.
void save_calibration(const CalibrationKey& key, const PerformanceModel& model);

}  // namespace recon
