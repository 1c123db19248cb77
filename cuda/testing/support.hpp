#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/device/volume.hpp"
#include "cuda/testing/cuda_sweep.hpp"

/// Shared by the entry points for tests and benchmarks: timing, graphs, device memory of single calls.

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

/// Device memory of a call: poisoned at allocation, freed at the end.
class Call {
 public:
  Call(std::size_t bytes, std::uint8_t poison) {
    arena_.reset(bytes);
    RECON_CUDA_TRY(cudaMemsetAsync(arena_.base(), poison, arena_.capacity(), stream_.get()));
  }

  cudaStream_t stream() const { return stream_.get(); }
  std::byte* take_bytes(std::size_t bytes) { return arena_.take<std::byte>(bytes); }

  template <class T>
  T* upload(ImageView<const T> image, std::ptrdiff_t pitch) {
    T* to = arena_.take<T>(element_count({pitch, image.height}));
    copy_rows(to, pitch, image.data, image.pitch, image.width, image.height);
    return to;
  }
  /// A volume of the same shape.
  DeviceVolume take_volume(VolumeView<const float> volume) {
    float* data = arena_.take<float>(device_volume_floats(volume.width, volume.planes, volume.height));
    return device_volume(data, volume.width, volume.planes, volume.height);
  }
  DeviceVolume upload(VolumeView<const float> volume) {
    const DeviceVolume to = take_volume(volume);
    copy_rows(to.data, to.pitch, volume.data, volume.pitch, volume.width, volume.height * volume.planes);
    return to;
  }
  Volume<float> download(const DeviceVolume& volume) {
    Volume<float> to(volume.width, volume.planes, volume.height);
    copy_rows(to.view().data, to.view().pitch, volume.data, volume.pitch, volume.width,
              volume.height * volume.planes);
    stream_.synchronize();
    return to;
  }
  template <class T>
  Image<T> download(const T* data, std::ptrdiff_t pitch, int width, int height) {
    Image<T> to(width, height);
    copy_rows(to.view().data, to.pitch(), data, pitch, width, height);
    stream_.synchronize();
    return to;
  }

 private:
  template <class T>
  void copy_rows(T* to, std::ptrdiff_t to_pitch, const T* from, std::ptrdiff_t from_pitch, int width,
                 int rows) {
    if (width == 0 || rows == 0) return;
    const auto bytes = [](std::ptrdiff_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    RECON_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(from_pitch), bytes(width),
                                     static_cast<std::size_t>(rows), cudaMemcpyDefault, stream_.get()));
  }

  Stream stream_;
  Arena arena_;
};

inline std::size_t volume_bytes(VolumeView<const float> volume) {
  return arena_bytes(device_volume_floats(volume.width, volume.planes, volume.height) * sizeof(float));
}

template <class T>
std::size_t image_bytes(ImageView<const T> image) {
  return arena_bytes(element_count({padded_count<T>(image.width), image.height}) * sizeof(T));
}

/// Owner of a CUDA graph: work that is recorded once and launched as a whole. Move-only.
class Graph {
 public:
  Graph() = default;

  /// Captures the work that `queue` submits to `stream` and to streams that it joins; nothing runs.
  template <class Queue>
  Graph(const Stream& stream, const Queue& queue) {
    RECON_CUDA_TRY(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      queue();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
      if (graph) static_cast<void>(cudaGraphDestroy(graph));
      throw;
    }
    RECON_CUDA_TRY(cudaStreamEndCapture(stream.get(), &graph));
    const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    RECON_CUDA_TRY(error);
  }
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~Graph() {
    if (graph_) static_cast<void>(cudaGraphExecDestroy(graph_));
  }

  void launch(const Stream& stream) const { RECON_CUDA_TRY(cudaGraphLaunch(graph_, stream.get())); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace recon::cuda
