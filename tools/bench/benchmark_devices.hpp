#pragma once

#include <string>

#include "core/error.hpp"
#include "methods/backend.hpp"

namespace recon {

/// Where a benchmark runs.
struct BenchmarkDevices {
  std::string device = "auto";  ///< cpu, cuda, or auto: the CPU, and the GPU where there is one
  int threads = 0;              ///< of the CPU; 0: all

  bool on_cpu() const { return device != "cuda"; }
  /// @throws DeviceUnavailable where a GPU is asked for and there is none
  bool on_gpu() const {
    const CudaDevices gpus = find_cuda_devices();
    if (device == "cuda" && gpus.names.empty()) throw DeviceUnavailable(gpus.why_none);
    return device != "cpu" && !gpus.names.empty();
  }
  std::string names() const {
    const std::string gpu = on_gpu() ? find_cuda_devices().names.front() : "";
    if (!on_cpu()) return gpu;
    return make_cpu_backend({threads, {}})->name() + (gpu.empty() ? "" : "; " + gpu);
  }
};

}  // namespace recon
