#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "predict/performance_model.hpp"
#include "predict/sample_problems.hpp"

namespace recon {

/// Seconds since some time, rising.
using SecondsClock = std::function<double()>;
SecondsClock steady_clock_seconds();

/// How often the system has taken a processor from this process to give it to another one.
using PreemptionCount = std::function<long()>;
PreemptionCount process_preemptions();

/// What measures.
struct Stopwatch {
  SecondsClock clock = steady_clock_seconds();
  PreemptionCount preemptions = process_preemptions();
};

/// A call that was made ready, and what it counts as.
struct StageCall {
  StageTask task;
  std::function<void()> run;
};

/// Makes a call ready; more than once, as not all calls fit the memory together. May throw OutOfMemory.
using MakeCall = std::function<StageCall()>;

struct MeasuredCall {
  StageTask task;
  double seconds =
      0;  ///< of a call, the lower quartile, > 0: what runs beside makes calls longer, never shorter
  bool disturbed = false;  ///< other programs took processors away all the time
};

/// Measures calls by turns: four rounds over all of them, in each a call that warms up and some that count,
/// fewer of those that take long. A machine that is slow for a while then slows down a part of every
/// measurement instead of all of one. A turn in which other programs took processors away counts only where a
/// call has no other one after eight rounds. Kept memory is given back between calls of different kinds.
/// @returns in the order of `calls`; nothing for those that do not fit the memory
std::vector<std::optional<MeasuredCall>> measure_interleaved(const Stopwatch& watch,
                                                             const std::vector<MakeCall>& calls);

/// The sizes that stages are measured at: small for a CPU, larger for more threads, and large for a GPU.
/// @param threads  of the CPU; 0: a GPU
std::vector<SampleSize> calibration_sizes(int threads);

/// The task that a sweep of a backend is.
/// @param threads  of the CPU; 0: a GPU
StageTask task_of(const SweepProblem& problem, int threads);
StageTask task_of(const PairProblem& problem, int threads);

/// Calls of a sweep like this at all sizes.
/// @param channels  1 or 3
/// @param threads   of the CPU; 0: a GPU
std::vector<MakeCall> sweep_calls(Backend& backend, const SweepSpec& like, int channels, int threads);

/// The same for pairs.
std::vector<MakeCall> pair_calls(Backend& backend, const PairOptions& options, int threads);

/// The same for an aggregation by itself, on the threads of the surrounding task arena.
std::vector<MakeCall> aggregation_calls(const AggregationOptions& options, int threads);

/// Calls at one size, which is taken as it is.
MakeCall sweep_call(Backend& backend, const SampleSize& size, const SweepSpec& like, int channels,
                    int threads);
MakeCall pair_call(Backend& backend, const SampleSize& size, const PairOptions& options, int threads);
MakeCall aggregation_call(const SampleSize& size, const AggregationOptions& options, int threads);

/// Measures the calls; the model gets them in place of what it knew of their stages and radii.
/// @returns false where other programs took processors away all the time, so that times may be too long
bool calibrate(const Stopwatch& watch, const std::vector<MakeCall>& calls, PerformanceModel& model);

}  // namespace recon
