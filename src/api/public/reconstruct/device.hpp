#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reconstruct/error.hpp"
#include "reconstruct/export.hpp"

/// Depth maps and point clouds from calibrated photos: the calls of the library and their types.
namespace reconstruct {

/// Options by their names on the command line, without the dashes, with their values as texts: {"p1", "9"},
/// and "true" for a switch. `reconstruct --help-all` and the manual page describe them.
using Options = std::map<std::string, std::string>;

/// The version of the library, such as "0.1.0".
RECONSTRUCT_API std::string version();

/// What calls compute on.
struct DeviceOptions {
  std::string device = "auto";  ///< auto (every usable GPU, else the CPU), cpu, cuda, or GPUs: "cuda:0,2"
  int threads = 0;              ///< max number; 0: as many as there are processors
  std::optional<std::size_t> memory_limit = {};      ///< max bytes of host memory; empty: what is available
  std::optional<std::size_t> gpu_memory_limit = {};  ///< max bytes of each GPU; empty: most of what is free
};

/// Of the library.
namespace detail {
struct OpenDevice;
}

/// The CPU, or GPUs that are open. To open a GPU takes a good part of a second and keeps some of its memory:
/// keep a device for many calls. Copies are the same device. Results do not depend on it but for the
/// tolerances that the manual states. Thread-safe: calls may come from several threads; those that need the
/// same device wait for each other. A device that was moved from is empty: its name and all calls that are
/// given it throw UsageError.
class RECONSTRUCT_API Device {
 public:
  /// @throws UsageError for an option that is out of range
  /// @throws DeviceUnavailable when a GPU is asked for that is not there, with the reason
  explicit Device(const DeviceOptions& options = {});

  /// For people: "CPU, 2 threads, AVX3" (AVX-512), or "cuda:0 NVIDIA H200, 139 GiB"; several with "; "
  /// between them.
  std::string name() const;

  /// Whether it was moved from.
  bool empty() const noexcept { return opened_ == nullptr; }

  /// Of the library.
  const detail::OpenDevice& opened() const;

 private:
  std::shared_ptr<const detail::OpenDevice> opened_;
};

}  // namespace reconstruct
