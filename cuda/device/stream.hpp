#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/device/error.hpp"

namespace recon::cuda {

struct DestroyHandle {
  void operator()(cudaStream_t stream) const noexcept { static_cast<void>(cudaStreamDestroy(stream)); }
  void operator()(cudaEvent_t event) const noexcept { static_cast<void>(cudaEventDestroy(event)); }
};

/// Thread blocks of a stream of high priority begin before those of others that wait.
enum class StreamPriority { kDefault, kHigh };

/// Owner of a stream that does not synchronize with the default stream. Move-only; belongs to the device that
/// is current at construction.
class Stream {
 public:
  explicit Stream(StreamPriority priority = StreamPriority::kDefault) {
    int lowest = 0, highest = 0;
    RECON_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    cudaStream_t stream = nullptr;
    RECON_CUDA_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                                priority == StreamPriority::kHigh ? highest : lowest));
    stream_.reset(stream);
  }

  cudaStream_t get() const { return stream_.get(); }

  /// Waits for all work of the stream. @throws DeviceError if some of it failed
  void synchronize() const { RECON_CUDA_TRY(cudaStreamSynchronize(get())); }

 private:
  std::unique_ptr<CUstream_st, DestroyHandle> stream_;
};

/// Whether an event has its time, without which it orders streams sooner.
enum class EventTiming { kTimed, kNone };

/// Owner of an event. Move-only.
class Event {
 public:
  explicit Event(EventTiming timing = EventTiming::kTimed) {
    cudaEvent_t event = nullptr;
    RECON_CUDA_TRY(cudaEventCreateWithFlags(
        &event, timing == EventTiming::kNone ? cudaEventDisableTiming : cudaEventDefault));
    event_.reset(event);
  }

  cudaEvent_t get() const { return event_.get(); }

  void record(const Stream& stream) { RECON_CUDA_TRY(cudaEventRecord(get(), stream.get())); }
  /// For a stream under graph capture: the event is recorded at every launch of the graph.
  void record_in_graph(const Stream& stream) {
    RECON_CUDA_TRY(cudaEventRecordWithFlags(get(), stream.get(), cudaEventRecordExternal));
  }
  void synchronize() const { RECON_CUDA_TRY(cudaEventSynchronize(get())); }

  /// Milliseconds from `earlier` to this event; both must have completed.
  double milliseconds_since(const Event& earlier) const {
    float milliseconds = 0;
    RECON_CUDA_TRY(cudaEventElapsedTime(&milliseconds, earlier.get(), get()));
    return static_cast<double>(milliseconds);
  }

 private:
  std::unique_ptr<CUevent_st, DestroyHandle> event_;
};

}  // namespace recon::cuda
