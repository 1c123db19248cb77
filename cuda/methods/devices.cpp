#include "cuda/methods/devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/log.hpp"
#include "cuda/device/current_device.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/architectures.hpp"
#include "methods/backend.hpp"
#include "methods/cuda_code.hpp"

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

/// The kernels of a build that the driver has to compile are compiled as they are first used; with those of
/// the first test it did so if that took this long. Loading machine code takes a hundredth of that.
constexpr double kSecondsOfCompiler = 0.25;

/// Says that the driver compiles the kernels for the current device, where it does.
void note_compilation(int device, const std::string& architecture, double seconds) {
  if (seconds < kSecondsOfCompiler) return;
  messages().info(
      "cuda:{}: this build ({}) has no code for {}: the driver compiles each kernel at its first use. That "
      "took "
      "{:.1f} s for the first of them; it keeps what it compiles for later runs. "
      "-DCMAKE_CUDA_ARCHITECTURES=native builds for this GPU",
      device, cuda_code_of_build(), architecture, seconds);
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  RECON_CUDA_TRY(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

std::string why_unusable(int device) {
  try {
    if (const cudaError_t error = cudaInitDevice(device, 0, 0); error != cudaSuccess) {
      cudaGetLastError();  // so that the next launch does not report it
      return cudaGetErrorString(error);
    }
    const CurrentDevice current(device);
    const ComputeCapability capability = {attribute(cudaDevAttrComputeCapabilityMajor, device),
                                          attribute(cudaDevAttrComputeCapabilityMinor, device)};
    const CodeFor code = code_for(RECON_CUDA_CODE, capability);
    if (code == CodeFor::kNone)
      return fmt::format("{} has compute capability {}.{}, this build ({}) has no code for it",
                         device_name(device), capability.major, capability.minor, cuda_code_of_build());
    const auto begin = std::chrono::steady_clock::now();
    if (!device_answers()) return "a test kernel gave a wrong answer";
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (code == CodeFor::kPtx)
      note_compilation(device, fmt::format("sm_{}{}", capability.major, capability.minor), taken.count());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string device_name(int device) {
  cudaDeviceProp properties{};
  RECON_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return std::string(properties.name) + ", " + std::to_string(properties.totalGlobalMem >> 30) + " GiB";
}

}  // namespace cuda

std::string cuda_code_of_build() {
  constexpr int kMajor = CUDART_VERSION / 1000, kMinor = CUDART_VERSION % 1000 / 10;
  return fmt::format("CUDA {}.{}, {}", kMajor, kMinor, cuda::described_code(RECON_CUDA_CODE));
}

CudaDevices find_cuda_devices(const std::vector<int>& indices) {
  CudaDevices found;
  if (const cudaError_t error = cudaGetDeviceCount(&found.visible); error != cudaSuccess) {
    cudaGetLastError();
    found.visible = 0;
    int driver = 0;  // stays 0 where there is none
    cudaDriverGetVersion(&driver);
    found.why_not = error == cudaErrorNoDevice ? "no NVIDIA GPU is found"
                    : driver == 0              ? "no NVIDIA GPU is found (there is no driver for one)"
                    : error == cudaErrorInsufficientDriver
                        ? "the NVIDIA driver is too old for CUDA " + std::to_string(CUDART_VERSION / 1000)
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
