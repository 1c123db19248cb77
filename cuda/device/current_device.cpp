#include "cuda/device/current_device.hpp"

#include <cuda.h>

#include <map>
#include <mutex>

namespace recon::cuda {
namespace {

/// Calls of the driver that the runtime lacks. They come by the runtime, so that programs start where there
/// is no driver.
struct ContextCalls {
  decltype(&cuDevicePrimaryCtxRetain) retain =
      find<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  decltype(&cuCtxPushCurrent) push = find<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent");
  decltype(&cuCtxPopCurrent) pop = find<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent");

  bool found() const { return retain != nullptr && push != nullptr && pop != nullptr; }

 private:
  template <class Call>
  static Call find(const char* name) {
    constexpr unsigned kVersion = 12000;  // of the driver's interface, whose calls are as in cuda.h
    void* call = nullptr;
    cudaDriverEntryPointQueryResult result{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &call, kVersion, cudaEnableDefault, &result);
    if (error != cudaSuccess) cudaGetLastError();  // so that the next launch does not report it
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Call>(call)
                                                                         : nullptr;
  }
};

const ContextCalls& context_calls() {
  static const ContextCalls calls;
  return calls;
}

/// The context of a device that the runtime uses, created where there is none and kept as the runtime keeps
/// it; null where that fails.
CUcontext primary_context(int device) {
  static std::mutex mutex;
  static std::map<int, CUcontext> contexts;
  const std::lock_guard lock(mutex);
  const auto known = contexts.find(device);
  if (known != contexts.end()) return known->second;
  if (cudaInitDevice(device, 0, 0) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  CUcontext context = nullptr;
  if (context_calls().retain(&context, device) != CUDA_SUCCESS) return nullptr;
  return contexts.emplace(device, context).first->second;
}

void pop_context() {
  CUcontext popped = nullptr;
  static_cast<void>(context_calls().pop(&popped));
}

/// Whether the device is current by the context that was pushed.
bool push_context_of(int device) {
  if (!context_calls().found()) return false;
  const CUcontext context = primary_context(device);
  if (context == nullptr || context_calls().push(context) != CUDA_SUCCESS) return false;
  int now = -1;
  if (cudaGetDevice(&now) == cudaSuccess && now == device) return true;
  pop_context();
  return false;
}

}  // namespace

CurrentDevice::CurrentDevice(int device) : pushed_(push_context_of(device)) {
  if (pushed_) return;
  before_ = current_device();
  RECON_CUDA_TRY(cudaSetDevice(device));
}

CurrentDevice::~CurrentDevice() {
  int now = 0;
  if (pushed_)
    pop_context();
  else if (cudaGetDevice(&now) == cudaSuccess && now != before_)
    static_cast<void>(cudaSetDevice(before_));
}

}  // namespace recon::cuda
