#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/counted_memory.hpp"
#include "core/log.hpp"
#include "cuda/fuse/agreement.hpp"
#include "cuda/match/sweep.hpp"
#include "cuda/methods/device_budget.hpp"
#include "cuda/methods/fusion_stream.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "cuda/refine/normals.hpp"
#include "fuse/agreement.hpp"
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

/// Why a device cannot be used; empty if it can. Makes it current.
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

/// What one of some processes may take of the memory: kernels and other programs need some.
std::size_t usable_memory(std::size_t processes = 1) {
  return std::min(free_memory(), total_memory() / processes) / 10 * 9;
}

/// Sets the current device for the lifetime of the object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    RECON_CUDA_TRY(cudaGetDevice(&before_));
    RECON_CUDA_TRY(cudaSetDevice(device));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

/// Resources for work on the maps of one view at a time on one device, where they stay as long as the cache
/// has memory. Not thread-safe; the device must be current in the calling thread.
class MapStream {
 public:
  explicit MapStream(ImageCache& cache) : cache_(cache) {}

  /// See recon::normals_from_depth; empty if the cache has too little memory.
  /// @param id  of the maps, see DepthSource
  /// @throws OutOfMemory, DeviceError
  std::optional<Image<Vec3f>> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id) {
    EXPECTS(depth.width == camera.width && depth.height == camera.height);
    const ImageCache::Release release(&cache_, uses_);
    const std::optional<DeviceMaps> maps = acquire(camera, id, [&](const DeviceMaps& device_maps) {
      staging_.upload(depth, device_maps.depth, device_maps.width, stream_);
      launch_normals(device_maps.depth, camera, device_maps.normal, stream_.get());
    });
    if (!maps) return std::nullopt;
    Image<Vec3f> normals(camera.width, camera.height);
    staging_.download<Vec3f>(maps->normal, maps->width, normals.view(), stream_);
    return normals;
  }

  /// See recon::count_agreement; empty if the cache has too little memory for a view with its sources.
  /// @throws OutOfMemory, DeviceError, and what loading a map throws
  std::optional<Image<Agreement>> count_agreement(const DepthSource& reference,
                                                  const std::vector<DepthSource>& sources,
                                                  const ConsistencyOptions& options) {
    const ImageCache::Release release(&cache_, uses_);
    const std::optional<DeviceMaps> view = acquire(reference);
    if (!view) return std::nullopt;
    Image<Agreement> counts(view->width, view->height);
    const std::size_t pixels = element_count({view->width, view->height});
    RECON_CUDA_TRY(cudaMemsetAsync(view->counts, 0, pixels * sizeof(Agreement), stream_.get()));
    for (const DepthSource& source : sources) {
      const std::optional<DeviceMaps> other = acquire(source);
      if (!other) return std::nullopt;
      launch_agreement(agreement_geometry(reference.camera, reference.cam_from_world, source.camera,
                                          source.cam_from_world, options),
                       *view, *other, stream_.get());
    }
    staging_.download<Agreement>(view->counts, view->width, counts.view(), stream_);
    return counts;
  }

 private:
  using Upload = std::function<void(const DeviceMaps& maps)>;

  /// The maps of a view on the device; if the cache does not have them, `upload` queues what makes them.
  /// Empty if memory is short.
  std::optional<DeviceMaps> acquire(const Pinhole& camera, std::uint64_t id, const Upload& upload) {
    const std::size_t pixels = element_count({camera.width, camera.height});
    const auto take = [&](Arena& arena) {
      return DeviceMaps{arena.take<float>(pixels), arena.take<Vec3f>(pixels), arena.take<Agreement>(pixels),
                        camera.width, camera.height};
    };
    return cache_.acquire_arrays({id, 0, DeviceLayout::kMaps}, stream_, uses_, take, upload);
  }

  std::optional<DeviceMaps> acquire(const DepthSource& source) {
    std::optional<DepthSource::Maps> loaded;
    // Loaded before the upload, during which other streams wait for the cache.
    if (!cache_.has({source.id, 0, DeviceLayout::kMaps})) loaded = source.load();
    return acquire(source.camera, source.id, [&](const DeviceMaps& maps) {
      if (!loaded) loaded = source.load();
      staging_.upload(loaded->depth, maps.depth, maps.width, stream_);
      staging_.upload(loaded->normal, maps.normal, maps.width, stream_);
    });
  }

  ImageCache& cache_;
  std::vector<ImageCache::Use> uses_;  ///< of the call in progress
  Stream stream_;
  Staging staging_;
};

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : device_(options.device),
        host_threads_(options.threads > 0 ? options.threads : oneapi::tbb::task_arena::automatic) {
    EXPECTS(options.streams >= 1 && options.processes >= 1);
    const std::string reason = why_unusable(device_);
    if (!reason.empty())
      throw DeviceUnavailable("cuda:" + std::to_string(device_) + " cannot be used: " + reason +
                              "; --device cpu works without a GPU");
    name_ = "cuda:" + std::to_string(device_) + " " + device_name(device_);
    const auto processes = static_cast<std::size_t>(options.processes);
    budget_.emplace(options.streams,
                    options.memory_limit ? *options.memory_limit / processes : usable_memory(processes),
                    budgeted_device());
    workspaces_.resize(static_cast<std::size_t>(options.streams));
    for (Workspace& workspace : workspaces_) workspace.host_threads = host_threads_;
  }

  ~CudaBackend() override { static_cast<void>(cudaSetDevice(device_)); }  // the members are freed on it

  std::string name() const override { return name_; }
  bool is_gpu() const override { return true; }
  int streams() const override { return static_cast<int>(workspaces_.size()); }

  WorkMemory memory(const SweepShape& shape) const override {
    const CurrentDevice current(device_);
    const SweepPlan planned = plan(shape);
    const std::size_t result = counted_bytes(1, [&] { uninitialised_estimate(shape.width, shape.height); });
    return {Staging::kBytes + result + sweep_host_bytes(shape, host_threads()), planned.bytes, planned.tiles};
  }

  DepthEstimate sweep(const SweepProblem& problem) override {
    const CurrentDevice current(device_);
    const SweepShape shape = sweep_shape(problem);
    const SweepPlan planned = plan(shape);
    try {
      const auto hold = budget_->admit(planned.bytes);
      Workspace& workspace = workspace_of(hold, planned.bytes);
      return budget_->run([&] { return sweep_view(problem, planned, workspace, &images_); });
    } catch (const OutOfMemory&) {
      // Another program has taken what was free when the limit was set.
    }
    const auto hold = budget_->admit_alone();
    const SweepPlan less = plan_sweep(shape, std::min(budget_->bytes(), usable_memory()));
    return sweep_view(problem, less, workspace_of(hold, less.bytes), &images_);
  }

  WorkMemory pair_memory(int width, int height, const PairSpec& options) const override {
    const CurrentDevice current(device_);
    const PairShape shape{width, height};
    WorkMemory memory;
    memory.host_bytes = Staging::kBytes + counted_bytes(1, [&] { Image<float>(width, height); }) +
                        pair_host_bytes(shape, options, host_threads());
    memory.device_bytes = pair_device_bytes(shape, options);
    if (memory.device_bytes > budget_->bytes())
      throw OutOfMemory("a pair of " + std::to_string(width) + "x" + std::to_string(height) + " with " +
                        std::to_string(options.range.count) + " disparities needs " +
                        std::to_string(memory.device_bytes >> 20) + " MiB of device memory, the limit is " +
                        std::to_string(budget_->bytes() >> 20) + " MiB; --device cpu works without");
    return memory;
  }

  DisparityMap match(const PairProblem& problem) override {
    check_pair(problem);
    const CurrentDevice current(device_);
    const std::size_t bytes = pair_device_bytes(pair_shape(problem), problem.options);
    const auto hold = budget_->admit(bytes);
    Workspace& workspace = workspace_of(hold, bytes);
    // A loop that waits here must not start another match, which would wait for this stream.
    return oneapi::tbb::this_task_arena::isolate(
        [&] { return budget_->run([&] { return match_pair(problem, workspace); }); });
  }

  Image<Vec3f> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id) override {
    const CurrentDevice current(device_);
    auto normals = with_maps(normals_, [&](MapStream& maps) { return maps.normals(depth, camera, id); });
    return normals ? std::move(*normals) : Backend::normals(depth, camera, id);
  }

  Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                   const ConsistencyOptions& options) override {
    const CurrentDevice current(device_);
    auto counts = with_maps(
        agreement_, [&](MapStream& maps) { return maps.count_agreement(reference, sources, options); });
    return counts ? std::move(*counts) : Backend::count_agreement(reference, sources, options);
  }

  std::unique_ptr<DeviceFusion> fusion(const std::vector<FusionView>& views,
                                       const FusionOptions& options) override {
    return std::make_unique<Fusion>(*this, views, options);
  }

 private:
  /// A FusionStream on the device of the backend.
  class Fusion : public DeviceFusion {
   public:
    Fusion(CudaBackend& backend, const std::vector<FusionView>& views, const FusionOptions& options)
        : backend_(backend), stream_(backend.images_, views, options) {}
    ~Fusion() override { static_cast<void>(cudaSetDevice(backend_.device_)); }  // the stream is freed on it

    bool has(int view) const override { return stream_.has(view); }
    bool begin(const FusionJob& job) override {
      const CurrentDevice current(backend_.device_);
      backend_.budget_->limit_images();
      return stream_.begin(job);
    }
    void finish(const FusionJob& job, PointSink& sink, FusionProgress& progress) override {
      const CurrentDevice current(backend_.device_);
      stream_.finish(job, sink, progress);
    }

   private:
    CudaBackend& backend_;
    FusionStream stream_;
  };

  /// What an admitted call works with. Frees the memory of earlier calls if it would exceed that of the hold
  /// with what a call that needs `bytes` adds to it.
  Workspace& workspace_of(const DeviceBudget::Hold& hold, std::size_t bytes) {
    Workspace& workspace = workspaces_[static_cast<std::size_t>(hold.stream())];
    if (std::max(workspace.arena.capacity(), bytes) > hold.bytes()) workspace.arena.release();
    return workspace;
  }

  DeviceBudget::Device budgeted_device() {
    return {[this](int stream) { workspaces_[static_cast<std::size_t>(stream)].arena.release(); },
            [this](std::size_t bytes) { images_.set_budget(bytes); },
            [this] {
              messages().info(
                  "{}: other programs use its memory; it keeps no images, and tries again every {} s", name_,
                  DeviceBudget::kPauseOfImages.count());
            }};
  }

  /// A stream for work on maps, one call at a time.
  struct SharedMapStream {
    std::mutex mutex;
    std::optional<MapStream> stream;  ///< from the first call on
  };

  /// Does `work` with the stream. A loop that waits in it must not start other work of the calling thread,
  /// which might wait for this stream.
  template <class Work>
  auto with_maps(SharedMapStream& maps, const Work& work) -> decltype(work(*maps.stream)) {
    return oneapi::tbb::this_task_arena::isolate([&] {
      const std::lock_guard lock(maps.mutex);
      budget_->limit_images();
      if (!maps.stream) maps.stream.emplace(images_);
      return work(*maps.stream);
    });
  }

  int host_threads() const { return oneapi::tbb::task_arena(host_threads_).max_concurrency(); }

  /// Within the memory share of a stream if possible, else with the whole limit, alone.
  SweepPlan plan(const SweepShape& shape) const {
    try {
      return plan_sweep(shape, budget_->share());
    } catch (const OutOfMemory&) {
      return plan_sweep(shape, budget_->bytes());
    }
  }

  int device_;
  int host_threads_;  ///< for graph cuts
  std::string name_;
  ImageCache images_;
  SharedMapStream normals_, agreement_;
  std::vector<Workspace> workspaces_;  ///< by stream
  std::optional<DeviceBudget> budget_;
};

}  // namespace
}  // namespace cuda

CudaDevices find_cuda_devices() {
  CudaDevices found;
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    cudaGetLastError();
    found.why_none = error == cudaErrorInsufficientDriver
                         ? "no NVIDIA driver, or one older than CUDA " +
                               std::to_string(CUDART_VERSION / 1000) + " needs, was found"
                         : "CUDA sees no GPU: " + std::string(cudaGetErrorString(error));
    return found;
  }
  std::string reasons;
  for (int device = 0; device < count; ++device) {
    const std::string reason = cuda::why_unusable(device);
    if (reason.empty())
      found.names.push_back(cuda::device_name(device));
    else
      reasons += (reasons.empty() ? "" : "; ") + ("cuda:" + std::to_string(device) + ": ") + reason;
  }
  if (found.names.empty()) found.why_none = reasons.empty() ? "CUDA sees no GPU" : reasons;
  return found;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace recon
