#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/image.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/sweep/sweep_problem.hpp"

/// Times of methods on a GPU, for the benchmark: no CUDA type appears here. In a build without CUDA all calls
/// throw DeviceUnavailable. Each measurement has a warm-up of three runs.

namespace recon::cuda {

/// Median and spread of repeated measurements, milliseconds.
struct TimeSpread {
  double median = 0, p10 = 0, p90 = 0;
};

inline TimeSpread spread_of(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

struct StageTimes {
  struct Stage {
    std::string name;
    TimeSpread time;
  };

  TimeSpread kernels;         ///< from images on the device to results on the device, by events
  std::vector<Stage> stages;  ///< those of pairs, of both views, one after the other, by events
  TimeSpread call;            ///< from and to host memory, by the host's clock
  std::size_t device_bytes = 0;

  /// @throws std::logic_error if there is no such stage: another method was timed
  TimeSpread stage(const std::string& name) const {
    const auto found =
        std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == name; });
    EXPECTS(found != stages.end());
    return found->time;
  }
};

/// @param repeats  >= 1
/// @throws OutOfMemory, DeviceUnavailable, DeviceError
StageTimes time_stages(const SweepProblem& problem, int repeats, int device = 0);

/// The kernels of a pair are one graph.
/// @throws std::logic_error for a graph cut, which the host computes; otherwise as above
StageTimes time_stages(const PairProblem& problem, int repeats, int device = 0);

/// Times of pairs in device memory, see DeviceMatcher.
struct LiveTimes {
  TimeSpread latency;   ///< from the call until its disparities are there, by the host's clock
  TimeSpread rotating;  ///< the same where each call has other images and another map, four in turn
  TimeSpread no_graph;  ///< as `latency`, where each kernel is launched by itself
  TimeSpread events;    ///< of a call, between two events on its stream
  TimeSpread in_a_row;  ///< a call of 32 that follow each other, by the host's clock
  TimeSpread kernels;   ///< of all kernels as one graph, by events
  std::vector<StageTimes::Stage> stages;
  std::size_t device_bytes = 0;
};

/// @param problem    of 8 bits, one channel
/// @param min_patch  the least patch that stays, pixels
/// @throws UsageError for a method of which the host computes a part; otherwise as above
LiveTimes time_live(const PairProblem& problem, int min_patch, int repeats, int device = 0);

/// The paper's naive kernel on a problem (grey, minimum over the sources), and the planes that it finds.
struct NaiveSweep {
  TimeSpread kernels;  ///< all sources and the winner, by events
  Image<int> planes;
};
NaiveSweep time_naive_sweep(const SweepProblem& problem, int repeats, int device = 0);

}  // namespace recon::cuda
