#include "cuda/methods/devices.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/match/sweep.hpp"
#include "methods/backend.hpp"

namespace recon {
namespace cuda {
namespace {

/// Whether a kernel gives the right result on the current device: the quad of a black pixel. @throws
/// DeviceError
bool device_answers() {
  constexpr std::size_t kBytes = 2 * sizeof(std::uint32_t);
  const Stream stream;
  const DeviceBuffer buffer(kBytes);
  auto* words = reinterpret_cast<std::uint32_t*>(buffer.data());
  std::uint32_t quad = 0;
  RECON_CUDA_TRY(cudaMemsetAsync(words, 0, kBytes, stream.get()));
  launch_quads(reinterpret_cast<const std::uint8_t*>(words), 1, 1, 1, words + 1, 1, stream.get());
  RECON_CUDA_TRY(cudaMemcpyAsync(&quad, words + 1, sizeof quad, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return quad == kUpperPixels;
}

}  // namespace

std::string why_unusable(int device) {
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
    cudaGetLastError();  // so that the next launch does not report it
    return cudaGetErrorString(error);
  }
  try {
    return device_answers() ? "" : "a test kernel gave a wrong answer";
  } catch (const Error& error) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess &&
        properties.major * 10 + properties.minor < 75)
      return std::string(properties.name) + " has compute capability " + std::to_string(properties.major) +
             "." + std::to_string(properties.minor) + ", this build needs 7.5 or newer";
    return error.what();
  }
}

std::string device_name(int device) {
  cudaDeviceProp properties{};
  RECON_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return std::string(properties.name) + ", " + std::to_string(properties.totalGlobalMem >> 30) + " GiB";
}

}  // namespace cuda

CudaDevices find_cuda_devices(const std::vector<int>& indices) {
  CudaDevices found;
  if (const cudaError_t error = cudaGetDeviceCount(&found.visible); error != cudaSuccess) {
    cudaGetLastError();
    found.visible = 0;
    found.why_not =
        error == cudaErrorInsufficientDriver
            ? "the NVIDIA driver is missing or too old for CUDA " + std::to_string(CUDART_VERSION / 1000)
            : "CUDA sees no GPU: " + std::string(cudaGetErrorString(error));
    return found;
  }
  std::vector<int> looked_at = indices;
  if (indices.empty())
    for (int device = 0; device < found.visible; ++device) looked_at.push_back(device);
  std::erase_if(looked_at, [&](int device) { return device < 0 || device >= found.visible; });
  // One after the other: the driver makes no two contexts at once.
  for (const int device : looked_at) {
    const std::string reason = cuda::why_unusable(device);
    if (reason.empty())
      found.usable.push_back({device, cuda::device_name(device)});
    else
      found.why_not += (found.why_not.empty() ? "cuda:" : "; cuda:") + std::to_string(device) + ": " + reason;
  }
  if (found.visible == 0) found.why_not = "CUDA sees no GPU";
  return found;
}

}  // namespace recon
