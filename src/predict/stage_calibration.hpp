#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "methods/backend.hpp"
#include "predict/performance_model.hpp"

namespace recon {

/// Problems of given sizes to measure stages with: a texture of several scales, the same on every machine.

/// Size of a sample.
struct SampleSize {
  int width = 0, height = 0, planes = 0;
  int sources = 1;     ///< of a sweep
  double reach = 0.5;  ///< width by which a pixel of a sweep moves in the sources from far to near, >= 0
};

/// A sweep that owns its images.
struct SampleSweep {
  Image<std::uint8_t> image;                 ///< that all views show of the middle plane
  std::vector<Image<std::uint8_t>> coarser;  ///< its halves, for patches
  SweepProblem problem;
};

/// A grey view and sources around it, each aimed at the middle plane.
/// @param size  planes >= 2, sources 1 .. kMaxSources
SampleSweep sample_sweep(const SampleSize& size, const SweepSpec& sweep);

/// A pair that owns its images.
struct SamplePair {
  Image<std::uint8_t> left, right;
  Image<Rgb8> left_colour, right_colour;
  PairProblem problem;
};

/// A pair whose disparities, 0 .. size.planes - 1, rise downwards and jump where the colour does.
/// @param options  the range in it is not looked at
SamplePair sample_pair(const SampleSize& size, const PairOptions& options);

/// Monotonic seconds since an arbitrary time.
using SecondsClock = std::function<double()>;
SecondsClock steady_clock_seconds();

/// A sweep or the matching of a pair, without images; the range of disparities is that of the sample.
using StageOptions = std::variant<SweepSpec, PairOptions>;

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
/// memory is released between different calls.
/// @returns in the order of `calls`; nothing for those that do not fit into memory
std::vector<std::optional<MeasuredTask>> measure_interleaved(const SecondsClock& clock,
                                                             const std::vector<MakeCall>& calls);

/// A call of the stage on a sample of this size.
/// @param threads  of the CPU; 0: a GPU
MakeCall stage_call(Backend& backend, const StageOptions& options, const SampleSize& size, int threads);

/// Calls of the stage at the sizes of a calibration: small for a CPU, larger for more threads, and large for
/// a GPU.
std::vector<MakeCall> calibration_calls(Backend& backend, const StageOptions& options, int threads);

/// Measures the calls, and replaces in the model the measurements of their stages and radii.
void calibrate(const SecondsClock& clock, const std::vector<MakeCall>& calls, PerformanceModel& model);

}  // namespace recon
