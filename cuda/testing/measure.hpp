#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device/stream.hpp"
#include "cuda/testing/cuda_sweep.hpp"

/// What the entries for tests and benchmarks share.

namespace recon::cuda {

inline constexpr int kWarmUps = 3;

/// Makes `device` the current one. @throws DeviceUnavailable
inline cudaDeviceProp use_device(int device) {
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
    cudaGetLastError();  // so that the next launch is not blamed for it
    throw DeviceUnavailable("cuda:" + std::to_string(device) +
                            " cannot be used: " + cudaGetErrorString(error));
  }
  cudaDeviceProp properties{};
  RECON_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return properties;
}

inline TimeSpread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

/// Milliseconds of what `queue` puts on the stream, after warm-ups.
template <class Queue>
TimeSpread time_events(const Stream& stream, int repeats, const Queue& queue) {
  std::vector<double> times;
  Event start, stop;
  for (int i = -kWarmUps; i < repeats; ++i) {
    start.record(stream);
    queue();
    stop.record(stream);
    stop.synchronize();
    if (i >= 0) times.push_back(stop.milliseconds_since(start));
  }
  return spread_of(std::move(times));
}

/// Milliseconds of `work` by the host's clock, after warm-ups.
template <class Work>
TimeSpread time_whole(int repeats, const Work& work) {
  std::vector<double> times;
  for (int i = -kWarmUps; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= 0) times.push_back(elapsed.count());
  }
  return spread_of(std::move(times));
}

}  // namespace recon::cuda
