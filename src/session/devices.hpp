#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log.hpp"
#include "methods/backend.hpp"

namespace recon {

/// The GPUs of "cuda:0,2", each once, rising; none for "auto", "cpu" and "cuda".
/// @throws UsageError for another text
std::vector<int> parse_device(const std::string& device);

/// What will do the work: the indices of GPUs, or none for the CPU.
struct DeviceChoice {
  std::vector<int> gpus;
  std::string reason;  ///< for people: what was chosen, and why
};

/// What `--device` means on this machine.
/// @throws UsageError as parse_device
/// @throws DeviceUnavailable when a GPU is asked for that is not there, with the reason
DeviceChoice choose_devices(const std::string& device);

/// Opens what was chosen.
/// @param threads      of the CPU
/// @param host_memory  bytes for the sweeps of the CPU
/// @param gpu_memory   bytes; empty: most of what is free
/// @throws DeviceUnavailable
Backends make_backends(const DeviceChoice& choice, int threads, std::size_t host_memory,
                       std::optional<std::size_t> gpu_memory);

/// What reports call the devices.
std::string names_of(const Backends& backends);

/// The devices, and how long it took to open them, seconds.
struct OpenDevices {
  Backends backends;
  double seconds = 0;
};

/// Says once what does the work: as soon as it is known, but not before an input has passed all checks, so
/// that wrong usage is said alone. Thread-safe.
class DeviceNotice {
 public:
  explicit DeviceNotice(std::shared_ptr<spdlog::logger> log) : log_(std::move(log)) {}

  void know(const std::string& reason);
  void permit();

 private:
  void say();

  const std::shared_ptr<spdlog::logger> log_;
  std::mutex mutex_;
  std::string reason_;  ///< empty: unknown
  bool permitted_ = false, said_ = false;
};

}  // namespace recon
