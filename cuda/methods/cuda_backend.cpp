#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/match/sweep.hpp"
#include "cuda/methods/fusion_stream.hpp"
#include "cuda/methods/map_stream.hpp"
#include "cuda/methods/stereo/pipeline_stream.hpp"
#include "cuda/methods/sweep/sweep_stream.hpp"
#include "methods/admission.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/view_sweep.hpp"

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
    limit_ = options.memory_limit ? *options.memory_limit / processes : usable_memory(processes);
    admission_.emplace(options.streams, limit_);
    streams_.reserve(static_cast<std::size_t>(options.streams));
    for (int i = 0; i < options.streams; ++i) streams_.emplace_back(host_threads_, images_);
  }

  ~CudaBackend() override { static_cast<void>(cudaSetDevice(device_)); }  // the streams are freed on it

  std::string name() const override { return name_; }
  int streams() const override { return static_cast<int>(streams_.size()); }

  WorkMemory memory(const SweepShape& shape) const override {
    const CurrentDevice current(device_);
    const SweepPlan planned = plan(shape);
    return {Staging::kBytes + host_bytes(shape, planned), planned.bytes, planned.tiles};
  }

  DepthEstimate sweep(const SweepProblem& problem) override {
    const CurrentDevice current(device_);
    const SweepShape shape = sweep_shape(problem);
    const SweepPlan planned = plan(shape);
    try {
      return sweep_as(problem, planned);
    } catch (const OutOfMemory&) {
      // Another program has taken what was free when the limit was set.
    }
    return sweep_alone(problem, shape);
  }

  WorkMemory pair_memory(int width, int height, const PairSpec& options) const override {
    const CurrentDevice current(device_);
    const PairShape shape{width, height};
    WorkMemory memory;
    memory.host_bytes = 2 * Staging::kBytes;  // the stream's for sweeps, too
    memory.device_bytes = pair_stream_bytes(shape, options);
    if (options.whole == WholeMethod::kNone)
      memory.host_bytes += PipelineStream::host_bytes(
          shape, options, oneapi::tbb::task_arena(host_threads_).max_concurrency());
    if (memory.device_bytes > limit_)
      throw OutOfMemory("a pair of " + std::to_string(width) + "x" + std::to_string(height) + " with " +
                        std::to_string(options.range.count) + " disparities needs " +
                        std::to_string(memory.device_bytes >> 20) + " MiB of device memory, the limit is " +
                        std::to_string(limit_ >> 20) + " MiB; --device cpu works without");
    return memory;
  }

  DisparityMap match(const PairProblem& problem) override {
    check_pair(problem);
    const CurrentDevice current(device_);
    const std::size_t bytes = pair_stream_bytes(pair_shape(problem), problem.options);
    const Hold hold(*this, bytes);
    DeviceStream& stream = hold.stream();
    stream.sweep.release();
    if (!stream.pair) stream.pair.emplace().host_threads = host_threads_;
    leave_memory_to(bytes);
    // A loop that waits here must not start another match, which would wait for this stream.
    return oneapi::tbb::this_task_arena::isolate(
        [&] { return without_images_if_needed([&] { return match_pair(problem, *stream.pair); }); });
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
  using Clock = std::chrono::steady_clock;

  /// A FusionStream on the device of the backend.
  class Fusion : public DeviceFusion {
   public:
    Fusion(CudaBackend& backend, const std::vector<FusionView>& views, const FusionOptions& options)
        : backend_(backend), stream_(backend.images_, views, options) {}
    ~Fusion() override { static_cast<void>(cudaSetDevice(backend_.device_)); }  // the stream is freed on it

    bool has(int view) const override { return stream_.has(view); }
    bool begin(const FusionJob& job) override {
      const CurrentDevice current(backend_.device_);
      backend_.leave_memory_to(0);
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

  /// How long no images are kept after they were in the way: a shortage passes, and a sweep that is done
  /// twice now and then costs little.
  static constexpr std::chrono::seconds kPauseOfImages{30};

  /// Resources of one concurrent call, kept for the next one.
  struct DeviceStream {
    DeviceStream(int host_threads, ImageCache& images) : sweep(host_threads, &images) {}

    SweepStream sweep;
    std::optional<PairWorkspace> pair;  ///< from the first pair on

    void release() {
      sweep.release();
      if (pair) pair->arena.release();
    }
  };

  /// The resources of an admitted call. Where it needs more memory than its stream's share, that of the other
  /// streams it holds is released before, and its own after it.
  class Hold {
   public:
    Hold(CudaBackend& backend, std::size_t bytes)
        : backend_(backend), permit_(backend.admission_->admit(bytes)) {
      if (!large()) return;
      for (const int i : permit_.streams()) at(i).release();
      const std::lock_guard lock(backend_.budget_mutex_);
      ++backend_.large_;
    }
    Hold(const Hold&) = delete;
    ~Hold() {
      if (!large()) return;
      stream().release();
      const std::lock_guard lock(backend_.budget_mutex_);
      --backend_.large_;
    }
    DeviceStream& stream() const { return at(permit_.streams().front()); }
    /// Device memory of the work.
    std::size_t bytes() const { return permit_.streams().size() * backend_.admission_->share(); }

   private:
    bool large() const { return permit_.streams().size() > 1; }
    DeviceStream& at(int stream) const { return backend_.streams_[static_cast<std::size_t>(stream)]; }

    CudaBackend& backend_;
    Admission::Permit permit_;
  };

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
      leave_memory_to(0);
      if (!maps.stream) maps.stream.emplace(images_);
      return work(*maps.stream);
    });
  }

  DepthEstimate sweep_as(const SweepProblem& problem, const SweepPlan& planned) {
    const Hold hold(*this, planned.bytes);
    if (hold.stream().pair) hold.stream().pair->arena.release();
    SweepStream& stream = hold.stream().sweep;
    stream.limit_memory(planned, hold.bytes());
    leave_memory_to(planned.bytes);
    return without_images_if_needed([&] { return stream.sweep(problem, planned); });
  }

  /// Sweeps with what the device has free at the moment, while no other stream has memory.
  DepthEstimate sweep_alone(const SweepProblem& problem, const SweepShape& shape) {
    const Hold hold(*this, limit_);
    hold.stream().release();
    leave_memory_to(0);
    return hold.stream().sweep.sweep(problem, plan_sweep(shape, std::min(limit_, usable_memory())));
  }

  /// Limits the cache of source images to what is left if all streams do work like the largest so far; to
  /// nothing while work needs more than the share of a stream.
  /// @param bytes  of the arena of work that begins; 0: none
  void leave_memory_to(std::size_t bytes) {
    const std::lock_guard lock(budget_mutex_);
    if (bytes <= admission_->share()) arena_bytes_ = std::max(arena_bytes_, bytes);
    const bool none = large_ > 0 || Clock::now() < no_images_until_;
    images_.set_budget(none ? 0 : limit_ - std::min(limit_, streams_.size() * arena_bytes_));
  }

  /// Does `work`; if the device has too little memory for it, as other programs use it too, again without the
  /// images, which are not kept for a while.
  template <class Work>
  auto without_images_if_needed(const Work& work) -> decltype(work()) {
    const bool kept = keeps_images();
    try {
      return work();
    } catch (const OutOfMemory&) {
      // Other work may have given them up since: what failed may have been with them nevertheless.
      if (!kept) throw;
      give_up_images();
    }
    return work();
  }

  bool keeps_images() {
    const std::lock_guard lock(budget_mutex_);
    return Clock::now() >= no_images_until_;
  }

  void give_up_images() {
    const std::lock_guard lock(budget_mutex_);
    no_images_until_ = Clock::now() + kPauseOfImages;
    images_.set_budget(0);
    if (std::exchange(told_, true)) return;
    spdlog::info("{}: other programs take its memory; it keeps no images, and tries again every {} s", name_,
                 kPauseOfImages.count());
  }

  /// Host bytes of the costs that the CPU stages take, and of these stages.
  std::size_t host_bytes(const SweepShape& shape, const SweepPlan& plan) const {
    if (!plan.on_host) return 0;
    const Tile block{0, 0, plan.width, plan.height};
    return Volume<float>::bytes(plan.width, shape.planes, plan.height) +
           optimize_block_bytes(shape, block, oneapi::tbb::task_arena(host_threads_).max_concurrency());
  }

  /// Within the memory share of a stream if possible, else with the whole limit, alone.
  SweepPlan plan(const SweepShape& shape) const {
    try {
      return plan_sweep(shape, admission_->share());
    } catch (const OutOfMemory&) {
      return plan_sweep(shape, limit_);
    }
  }

  int device_;
  int host_threads_;  ///< for graph cuts
  std::string name_;
  std::size_t limit_ = 0;
  ImageCache images_;
  std::mutex budget_mutex_;
  std::size_t arena_bytes_ = 0;        ///< of the largest arena so far
  int large_ = 0;                      ///< work in progress that needs more than the share of a stream
  Clock::time_point no_images_until_;  ///< later than now after they were in the way
  bool told_ = false;                  ///< that they were
  SharedMapStream normals_, agreement_;
  std::vector<DeviceStream> streams_;
  std::optional<Admission> admission_;
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
