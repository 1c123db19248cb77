#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/backend.hpp"

namespace recon {

/// What will do the work: the indices of GPUs, or none for the CPU.
struct DeviceChoice {
  std::vector<int> gpus;
  std::string reason;  ///< for people: what was chosen, and why
};

/// @throws UsageError when `device` is none of auto, cpu, cuda and GPUs such as cuda:0,2
void check_device(const std::string& device);

/// What `--device` means on this machine.
/// @throws UsageError as check_device
/// @throws DeviceUnavailable when a GPU is asked for that is not there, with the reason
DeviceChoice choose_devices(const std::string& device);

/// Options of the backends.
struct BackendLimits {
  int threads = 0;
  std::optional<std::size_t> sweep_memory;  ///< bytes of host memory, for the CPU
  std::optional<std::size_t> gpu_memory;    ///< bytes
};

std::vector<std::unique_ptr<Backend>> make_backends(const DeviceChoice& choice, const BackendLimits& limits);

}  // namespace recon
