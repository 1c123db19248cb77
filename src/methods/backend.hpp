#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"

namespace recon {

struct Agreement;
struct ConsistencyOptions;
struct DepthEstimate;
struct DepthSource;
class DeviceFusion;
class DeviceMatcher;
struct DeviceMatching;
class DeviceSweeper;
struct DeviceSweeping;
struct DisparityMap;
struct FusionOptions;
struct FusionView;
struct PairProblem;
struct PairSpec;
struct Pinhole;
struct SweepProblem;
struct SweepShape;

/// Memory of one view or pair, computed in advance, the result included, the images of the caller excluded.
struct WorkMemory {
  std::size_t host_bytes = 0;
  std::size_t device_bytes = 0;
  int tiles = 1;  ///< into which a GPU divides the view so that it fits
};

/// Device that runs the stages: the CPU or a GPU. Results do not depend on the number of threads, on tiling
/// or on concurrent work.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Display name, such as "CPU, 2 threads, AVX3" (AVX-512) or "cuda:0 NVIDIA H200, 139 GiB".
  virtual std::string name() const = 0;

  /// Whether it is a GPU, beside which the host has time for other work.
  virtual bool is_gpu() const { return false; }

  /// Max concurrent calls of `sweep` and `match`, each from its own thread; further calls wait until one of
  /// them has ended.
  virtual int streams() const = 0;

  /// The memory that `sweep` needs for a problem of this shape within the limits of this backend.
  /// @throws OutOfMemory when even the smallest tiling does not fit
  virtual WorkMemory memory(const SweepShape& shape) const = 0;

  /// Sweeps one view; thread-safe.
  /// @throws OutOfMemory, DeviceError
  virtual DepthEstimate sweep(const SweepProblem& problem) = 0;

  /// The memory that `match` needs for images of this size; on a CPU, in all depths, also that of the images.
  /// @throws OutOfMemory when that exceeds the limits of this backend
  virtual WorkMemory pair_memory(int width, int height, const PairSpec& options) const = 0;

  /// Matches a rectified pair; thread-safe.
  /// @throws OutOfMemory, DeviceError
  virtual DisparityMap match(const PairProblem& problem) = 0;

  /// A matcher of pairs in the memory of this device, which must outlive it; its memory is its own.
  /// @throws UsageError for a method of which the host computes a part; OutOfMemory, DeviceError
  /// @throws DeviceUnavailable on a CPU
  virtual std::unique_ptr<DeviceMatcher> device_matcher(const DeviceMatching& matching);
  /// The same for sweeps of views.
  virtual std::unique_ptr<DeviceSweeper> device_sweeper(const DeviceSweeping& sweeping);

  /// See recon::normals_from_depth; thread-safe. The default computes on the calling thread's task arena.
  /// @param id  of the maps of the view, see DepthSource: a GPU may keep them for `count_agreement`
  /// @throws OutOfMemory, DeviceError
  virtual Image<Vec3f> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id);

  /// See recon::checked_normals; thread-safe. The default computes on the calling thread's task arena.
  /// @throws OutOfMemory, DeviceError
  virtual Image<Vec3f> checked_normals(ImageView<const float> depth, const Pinhole& camera);

  /// See recon::count_agreement; thread-safe. The default computes on the calling thread's task arena.
  /// @throws OutOfMemory, DeviceError, and what loading a map throws
  virtual Image<Agreement> count_agreement(const DepthSource& reference,
                                           const std::vector<DepthSource>& sources,
                                           const ConsistencyOptions& options);

  /// A fusion of `views` on this device, which must outlive it; null where the CPU fuses. It takes memory
  /// that sweeps leave.
  virtual std::unique_ptr<DeviceFusion> fusion(const std::vector<FusionView>& views,
                                               const FusionOptions& options);
};

using Backends = std::vector<std::unique_ptr<Backend>>;

struct CpuOptions {
  int threads = 0;                          ///< 0: all that the process may use
  std::optional<std::size_t> memory_limit;  ///< bytes for sweeps; empty: no limit
};

struct CudaOptions {
  int device = 0;                           ///< index among the visible devices
  std::optional<std::size_t> memory_limit;  ///< bytes of device memory; empty: 90 % of the free memory
  int streams = 2;
  int threads = 0;  ///< CPU threads for graph cuts; 0: all that the process may use
};

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

/// A GPU that can be used.
struct CudaDevice {
  int index = 0;  ///< among the visible ones
  std::string name;
};

/// GPUs, by their index, and why others cannot be used (no CUDA in this build, no driver, GPU older than the
/// build).
struct CudaDevices {
  int visible = 0;                 ///< their number
  std::vector<CudaDevice> usable;  ///< of those that were looked at
  std::string why_not;             ///< empty if all are usable
};

/// Looks at GPUs, which takes a tenth of a second each.
/// @param indices  of them; those that are not visible are left out. Empty: all
CudaDevices find_cuda_devices(const std::vector<int>& indices = {});

/// @throws DeviceUnavailable if the build has no CUDA or the device cannot be used
std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options);

}  // namespace recon
