#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/half.hpp"
#include "core/volume.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::cuda {

/// The sweep on a GPU by parts, for tests and the benchmark: no CUDA type appears here. In a build
/// without CUDA, those that the benchmark calls throw DeviceUnavailable.

/// How the sources are stored; the results are the same.
enum class SweepVariant {
  kAuto,   ///< as in the backend
  kBytes,  ///< as plain bytes, as taken where memory is short
};

/// The whole cost volume. @throws OutOfMemory, DeviceUnavailable, DeviceError
Volume<Half> sweep_volume(const SweepProblem& problem, SweepVariant variant, int device = 0);

/// One view in pieces that fit `memory_limit`, and the bytes of device memory that were taken.
struct LimitedSweep {
  DepthEstimate estimate;
  std::size_t planned_bytes = 0;  ///< what was said before
  std::size_t arena_bytes = 0;    ///< what was allocated
  int tiles = 1;
};
LimitedSweep sweep_limited(const SweepProblem& problem, SweepVariant variant, std::size_t memory_limit,
                           int device = 0);

/// Sweeps views one after the other, on two streams in turn that share a cache of source images.
struct CachedSweeps {
  std::vector<DepthEstimate> estimates;
  std::size_t uploads = 0;  ///< channels of sources, into the cache
};
/// @param budget  bytes of the cache
CachedSweeps sweep_with_cache(const std::vector<SweepProblem>& problems, SweepVariant variant,
                              std::size_t budget, int device = 0);

/// Median and spread of repeated measurements, milliseconds.
struct TimeSpread {
  double median = 0, p10 = 0, p90 = 0;
};

struct SweepTimes {
  TimeSpread kernels;  ///< from images on the device to depth, cost and confidence on the device, by events
  TimeSpread whole;    ///< the call from and to host memory, by the host's clock
  std::size_t device_bytes = 0;
};

/// Times `repeats` sweeps after a warm-up of three.
SweepTimes time_sweep(const SweepProblem& problem, int repeats, int device = 0);

/// The paper's naive kernel on the same problem (grey, minimum over the sources), and the planes that it
/// finds.
struct NaiveSweep {
  TimeSpread kernels;  ///< all sources and the winner, by events
  Image<int> planes;
};
NaiveSweep time_naive_sweep(const SweepProblem& problem, int repeats, int device = 0);

/// How many floats in [2^-10, 2^33) have a reciprocal on the device that differs from the rounded one; 0 is
/// right.
std::size_t count_wrong_reciprocals(int device = 0);

}  // namespace recon::cuda
