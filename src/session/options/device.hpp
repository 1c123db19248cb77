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

using Backends = std::vector<std::unique_ptr<Backend>>;

/// @param host_memory  bytes for the sweeps of the CPU
/// @param gpu_memory   bytes; empty: most of what is free
Backends make_backends(const DeviceChoice& choice, int threads, std::size_t host_memory,
                       std::optional<std::size_t> gpu_memory);

}  // namespace recon
