#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/device/current_device.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "methods/device_memory.hpp"

namespace recon::cuda {

/// @param owner  of the call, such as "the matcher"
/// @param host   the call for images in host memory
/// @throws UsageError where memory is not on the device
void check_memory(const std::string& name, const void* data, int device, const char* owner, const char* host);

/// Memory that is freed with its device current, on whatever thread. @throws OutOfMemory, DeviceError
std::shared_ptr<float> new_device_floats(int device, std::size_t count);

/// Orders the work of calls among the streams that they name.
class CallOrder {
 public:
  /// Lets later work of a stream wait for what is queued on another one, that of an image or a map.
  void wait_for(std::optional<void*> other, cudaStream_t stream) {
    if (!other || *other == stream) return;
    RECON_CUDA_TRY(cudaEventRecord(queued_.get(), static_cast<cudaStream_t>(*other)));
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream, queued_.get(), 0));
  }

  /// A call has queued all its work on a stream.
  void end(cudaStream_t stream) { RECON_CUDA_TRY(cudaEventRecord(done_.get(), stream)); }

  /// Lets later work of a stream wait for the last call.
  void order_after(cudaStream_t stream) const { RECON_CUDA_TRY(cudaStreamWaitEvent(stream, done_.get(), 0)); }

  /// Waits for the last call.
  void synchronize() const noexcept { static_cast<void>(cudaEventSynchronize(done_.get())); }

 private:
  Event queued_{EventTiming::kNone}, done_{EventTiming::kNone};
};

/// What objects for calls on device memory have in common; they are made with their device current.
/// @tparam Interface  DeviceMatcher, DeviceSweeper
/// @tparam Work       what it has on its device: `order` is its CallOrder, `bytes()` its memory
template <class Interface, class Work>
class DeviceCalls : public Interface {
 public:
  DeviceCalls(std::unique_ptr<Work> work, const char* owner, const char* host)
      : device_(current_device()), owner_(owner), host_(host), work_(std::move(work)) {}

  ~DeviceCalls() override {
    try {
      const CurrentDevice current(device_);
      work_.reset();
    } catch (const Error&) {
      // The device is lost, and its memory with it.
    }
  }

  void order_after(void* stream) override {
    const CurrentDevice current(device_);
    const std::lock_guard lock(mutex_);
    work_->order.order_after(static_cast<cudaStream_t>(stream));
  }

  std::shared_ptr<float> new_floats(std::size_t count) const override {
    return new_device_floats(device_, count);
  }

  std::size_t bytes() const override { return work_->bytes(); }
  int device() const override { return device_; }

 protected:
  /// @throws UsageError where memory is not on the device, which is current
  void check(const std::string& name, const void* data) const {
    check_memory(name, data, device_, owner_, host_);
  }
  /// Does `call(work)` with the device current, alone.
  template <class Call>
  void in_order(const Call& call) {
    const std::lock_guard lock(mutex_);
    call(*work_);
  }

  const int device_;

 private:
  const char *owner_, *host_;
  std::mutex mutex_;  ///< of the order of calls
  std::unique_ptr<Work> work_;
};

}  // namespace recon::cuda
