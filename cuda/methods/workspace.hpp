#pragma once

#include <oneapi/tbb/task_arena.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "core/volume.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/staging.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/device/volume.hpp"

namespace recon::cuda {

/// Resources for one call at a time on one device, reused so that a further call of the same size allocates
/// no device memory. Not thread-safe; the device must be current in the calling thread.
struct Workspace {
  Stream stream;
  Arena arena;
  Staging staging;
  int host_threads = oneapi::tbb::task_arena::automatic;  ///< for stages that the host computes
};

/// Calls `work` on the host with the costs of a volume, for stages that only the host has.
/// @param stream  that the volume is computed on
void on_host(const DeviceVolume& costs, Workspace& workspace, const Stream& stream,
             const std::function<void(Volume<float> costs)>& work);

/// Queues the copy of rows on the device; pitches are elements.
template <class T>
void copy_on_device(const T* from, std::ptrdiff_t from_pitch, T* to, std::ptrdiff_t to_pitch, int width,
                    int height, const Stream& stream) {
  const auto bytes = [](std::ptrdiff_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  RECON_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(from_pitch), bytes(width),
                                   static_cast<std::size_t>(height), cudaMemcpyDeviceToDevice, stream.get()));
}

/// A stage of a method on the device, with the addresses of its memory. What adds a stage takes the memory of
/// the stage from an arena: with one that only counts, these are the bytes of the method.
/// @tparam Run  what the stage works with when it is queued
template <class Run>
struct Stage {
  const char* name;  ///< for measurements
  std::function<void(Run&)> queue;
};

/// Queues stages in their order.
template <class Run>
void queue_all(const std::vector<Stage<Run>>& stages, Run& run) {
  for (const Stage<Run>& stage : stages) stage.queue(run);
}

}  // namespace recon::cuda
