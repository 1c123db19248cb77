#pragma once

#include <map>
#include <string>
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

}  // namespace recon
