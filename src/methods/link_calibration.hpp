#pragma once

#include <functional>
#include <vector>

#include "methods/performance_model.hpp"
#include "methods/sample_problems.hpp"

namespace recon {

/// Seconds since some time, rising.
using SecondsClock = std::function<double()>;
SecondsClock steady_clock_seconds();

/// What measures, and by how many threads at a time.
struct Stopwatch {
  SecondsClock clock = steady_clock_seconds();
  int lanes =
      1;  ///< calls side by side, each from a thread of its own; times are those of all over their number
};

/// How long the first call took, with what it has to load and to reserve, and how long each further one: the
/// lower quartile of five to forty, of fewer where they take long. What runs beside makes calls longer, never
/// shorter.
struct CallTimes {
  double first = 0, further = 0;  ///< seconds, > 0
};

/// @param call  called from `lanes` threads at the same time
CallTimes measure_calls(const Stopwatch& watch, const std::function<void()>& call);

/// The sizes that links are measured at: small for a CPU, larger for more threads, and large for a GPU.
/// @param threads  of the CPU; 0: a GPU
std::vector<SampleSize> calibration_sizes(int threads);

/// The name of a link's first call, whose time comes on top of that of the others.
LinkTask first_call_of(LinkTask task);

/// The same task where `lanes` calls are made side by side.
LinkTask in_lanes(LinkTask task, int lanes);

/// The task that a sweep of a backend is.
/// @param threads  of the CPU; 0: a GPU
LinkTask task_of(const SweepProblem& problem, int threads);
LinkTask task_of(const PairProblem& problem, int threads);

/// Measures the sweep that `like` describes (options, optimizer, links) at all sizes that the backend has the
/// memory for, and notes them, and the first call of each, in the model in place of what it knew.
/// @param channels  1 or 3
/// @param threads   of the CPU; 0: a GPU
void calibrate_sweep(Backend& backend, const Stopwatch& watch, const SweepProblem& like, int channels,
                     int threads, PerformanceModel& model);

/// The same for pairs.
void calibrate_pair(Backend& backend, const Stopwatch& watch, const PairOptions& options, int threads,
                    PerformanceModel& model);

/// The same for an aggregation by itself, on the threads of the surrounding task arena.
void calibrate_aggregation(const Stopwatch& watch, const AggregationOptions& options, int threads,
                           PerformanceModel& model);

/// A call of an aggregation on a sample of this size, and what it counts as.
struct SampleAggregation {
  SampleAggregation(const SampleSize& size, const AggregationOptions& options, int threads);
  void run();

  LinkTask task;

 private:
  AggregationOptions options_;
  SamplePair pair_;
  Volume<float> costs_, result_;
};

}  // namespace recon
