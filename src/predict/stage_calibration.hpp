#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "methods/method_spec.hpp"
#include "predict/performance_model.hpp"

namespace recon {

class Backend;

/// Monotonic seconds since an arbitrary time.
using SecondsClock = std::function<double()>;
double steady_seconds();

/// The method of a sweep or of a pair, without images.
struct SampledMethod {
  MethodSpec spec;
  bool pair = false;
};

/// A prepared call and its task.
struct StageCall {
  StageTask task;
  std::function<void()> run;
};

/// Prepares a call, each time that it is measured, as not all calls fit into memory together. May throw
/// OutOfMemory.
using MakeCall = std::function<StageCall()>;

/// Measures calls in four rounds; each round runs every call once to warm up and then a few times, fewer if
/// it takes long: a slow phase of the machine then affects a part of every measurement instead of all of one.
/// The time of a call is the lower quartile, since other programs make calls longer, never shorter. Kept
/// memory is released between different calls. Shows progress.
/// @returns in the order of `calls`; nothing for those that do not fit into memory
std::vector<std::optional<MeasuredTask>> measure_interleaved(const std::vector<MakeCall>& calls,
                                                             const SecondsClock& clock = steady_seconds);

/// Calls of the stage on samples of several sizes: small for a CPU, larger for more threads, and large for a
/// GPU. Their images are a texture of several scales, the same on every machine.
/// @param threads  of the CPU; 0: a GPU
/// @param scale    of the lengths and the planes: 1 for a calibration, others for sizes that it does not have
std::vector<MakeCall> sample_calls(Backend& backend, const SampledMethod& options, int threads,
                                   double scale = 1);

/// Measures the calls, and replaces in the model the measurements of their stages and radii.
void calibrate(const std::vector<MakeCall>& calls, PerformanceModel& model,
               const SecondsClock& clock = steady_seconds);

}  // namespace recon
