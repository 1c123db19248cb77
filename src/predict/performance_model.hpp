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
  double seconds = 0;  ///< > 0 and finite
};

/// Measured seconds of a step of the runs on this machine, and the shipped prediction for the same work.
struct RunTimes {
  double seconds = 0, shipped = 0;
};

/// Predicts the time of a task from measured ones:
///   seconds = efficiency(size) * sum_i cost_i work_i
/// with the counts of stage_work.hpp, costs >= 0 that fit the measured tasks of the stage best (least squares
/// of the relative errors), and an efficiency near 1 that makes the sum right where it was measured and is
/// interpolated between sizes and radii: by caches and fill a machine does not do all equally well. Source:
/// J. Fang, A. L. Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating cost
/// aggregation for real-time stereo matching", ICPADS 2012, section V (a model of the counts, times an
/// efficiency by radius that is measured once).
struct PerformanceModel {
  std::vector<MeasuredTask> measured;
  std::map<std::string, RunTimes> runs;  ///< by step

  /// Whether the stage was measured at the radius of the task, or at both a smaller and a larger one.
  bool knows(const StageTask& task) const;

  /// Seconds, also for a radius beyond those measured. Deterministic.
  /// @throws std::logic_error when nothing is known of the stage
  double seconds(const StageTask& task) const;

  /// Records the time of a step of a run. Each later run halves the weight of the earlier ones.
  /// @param seconds, shipped  > 0 and finite
  void learn(const std::string& step, double seconds, double shipped);

  /// Ratio of measured to shipped time of a step; 1 if no run had it.
  double factor(const std::string& step) const;
};

/// The time of a call by the costs that ship with the program: measured on two threads of a Xeon with
/// AVX-512 and on an H200, accurate to a factor of two elsewhere. Threads of a CPU are taken to share the
/// work evenly.
/// @param threads  of the CPU; 0: a GPU
double shipped_seconds(const StageTask& task, int threads);

/// Seconds by the model if it knows the stage, else by the shipped costs.
inline double predicted_seconds(const PerformanceModel& model, const StageTask& task, int threads) {
  return model.knows(task) ? model.seconds(task) : shipped_seconds(task, threads);
}

/// Identifies a calibration, which holds for one device, version and number of threads.
struct CalibrationKey {
  std::string device;   ///< as Backend::name says it
  int threads = 0;      ///< of the host
  std::string version;  ///< of the program
};

/// The file of a calibration: in `reconstruct` in $XDG_CACHE_HOME, or in $HOME/.cache; empty where neither
/// variable is an absolute path.
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
