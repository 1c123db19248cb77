#include "cuda/methods/device_calls.hpp"

#include "core/error.hpp"

namespace recon::cuda {

void check_memory(const std::string& name, const void* data, int device, const char* owner,
                  const char* host) {
  cudaPointerAttributes memory{};
  const bool known = cudaPointerGetAttributes(&memory, data) == cudaSuccess;
  if (!known) static_cast<void>(cudaGetLastError());
  if (known && memory.type == cudaMemoryTypeManaged) return;
  if (!known || memory.type != cudaMemoryTypeDevice)
    throw UsageError(name + " is not in the memory of a GPU; images in host memory are for " + host);
  if (memory.device != device)
    throw UsageError(name + " is in the memory of cuda:" + std::to_string(memory.device) + "; " + owner +
                     " is on cuda:" + std::to_string(device));
}

namespace {

struct OwnedMemory {
  OwnedMemory(int on, std::size_t bytes) : device(on), memory(bytes) {}
  ~OwnedMemory() { current.begin(device); }

  DeviceOfDestructor current;
  int device;
  DeviceBuffer memory;
};

}  // namespace

std::shared_ptr<float> new_device_floats(int device, std::size_t count) {
  const CurrentDevice current(device);
  const auto owned = std::make_shared<OwnedMemory>(device, count * sizeof(float));
  return {owned, reinterpret_cast<float*>(owned->memory.data())};
}

}  // namespace recon::cuda
