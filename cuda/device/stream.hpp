#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// Owner of a stream that does not synchronize with the default stream. Move-only; belongs to the device that
/// is current at construction.
class Stream {
 public:
  Stream() { RECON_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_) static_cast<void>(cudaStreamDestroy(stream_));
  }

  cudaStream_t get() const { return stream_; }

  /// Waits for all work of the stream. @throws DeviceError if some of it failed
  void synchronize() const { RECON_CUDA_TRY(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Owner of an event. Move-only.
class Event {
 public:
  Event() { RECON_CUDA_TRY(cudaEventCreate(&event_)); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_) static_cast<void>(cudaEventDestroy(event_));
  }

  cudaEvent_t get() const { return event_; }

  void record(const Stream& stream) { RECON_CUDA_TRY(cudaEventRecord(event_, stream.get())); }
  /// For a stream under graph capture: the event is recorded at every launch of the graph.
  void record_in_graph(const Stream& stream) {
    RECON_CUDA_TRY(cudaEventRecordWithFlags(event_, stream.get(), cudaEventRecordExternal));
  }
  void synchronize() const { RECON_CUDA_TRY(cudaEventSynchronize(event_)); }

  /// Milliseconds from `earlier` to this event; both must have completed.
  double milliseconds_since(const Event& earlier) const {
    float milliseconds = 0;
    RECON_CUDA_TRY(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace recon::cuda
