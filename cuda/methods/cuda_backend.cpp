#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/methods/self_test.hpp"
#include "cuda/methods/stereo/pipeline_stream.hpp"
#include "cuda/methods/sweep/sweep_stream.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/sweep_shape.hpp"
#include "methods/sweep/volume_sweep.hpp"

namespace recon {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): the backend is the facade of that namespace

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
    EXPECTS(options.streams >= 1);
    const std::string reason = why_unusable(device_);
    if (!reason.empty())
      throw DeviceUnavailable("cuda:" + std::to_string(device_) + " cannot be used: " + reason +
                              "; --device cpu works without a GPU");
    name_ = "cuda:" + std::to_string(device_) + " " + device_name(device_);
    RECON_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device_));
    std::size_t free = 0, total = 0;
    RECON_CUDA_TRY(cudaMemGetInfo(&free, &total));
    limit_ = options.memory_limit ? *options.memory_limit : free / 10 * 9;
    streams_.reserve(static_cast<std::size_t>(options.streams));
    for (int i = 0; i < options.streams; ++i)
      free_.push_back(&streams_.emplace_back(host_threads_, &images_));
  }

  ~CudaBackend() override { static_cast<void>(cudaSetDevice(device_)); }  // the streams are freed on it

  std::string name() const override { return name_; }
  int streams() const override { return static_cast<int>(streams_.size()); }

  WorkMemory memory(const SweepShape& shape) const override {
    const CurrentDevice current(device_);
    // The shape does not contain the cost or the combination: assume the path with more memory, and the
    // lowest tiles.
    SweepOptions options;
    options.window = shape.window;
    options.cost = CostKind::kSad;
    const SweepPlan sad = plan(shape, options, SweepPath::kVolume);
    SweepPlan most = sad;
    if (shape.channels == 1) {
      const SweepPlan fused = plan(shape, options, SweepPath::kFused);
      options.cost = CostKind::kZncc;
      const SweepPlan zncc = plan(shape, options, SweepPath::kVolume);
      most.bytes = std::max({sad.bytes, fused.bytes, zncc.bytes});
      most.tiles = std::max({sad.tiles, fused.tiles, zncc.tiles});
    }
    return {Staging::kBytes + host_bytes(shape, most), most.bytes, most.tiles};
  }

  DepthEstimate sweep(const SweepProblem& problem) override {
    const CurrentDevice current(device_);
    const SweepPlan planned = plan(sweep_shape(problem), problem.options, SweepPath::kAuto);
    const Hold hold(*this, planned.bytes > share());
    leave_memory_to(planned);
    return hold.stream().sweep(problem, planned);
  }

  WorkMemory pair_memory(int width, int height, const PairOptions& options) const override {
    const CurrentDevice current(device_);
    WorkMemory memory;
    const PairShape shape{width, height};
    memory.host_bytes = Staging::kBytes;
    memory.device_bytes = pair_stream_bytes(shape, options);
    if (options.method == PairMethod::kPipeline)
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
    const std::lock_guard lock(pair_mutex_);
    leave_memory_to(problem);
    if (!pair_workspace_) pair_workspace_.emplace().host_threads = host_threads_;
    // A loop that waits here must not start another match, which would wait for the lock.
    return oneapi::tbb::this_task_arena::isolate([&] { return match_pair(problem, *pair_workspace_); });
  }

 private:
  /// A concurrent stream acquired for one sweep; `alone`: all of them, with the memory of the others
  /// released.
  class Hold {
   public:
    Hold(CudaBackend& backend, bool alone) : backend_(backend) {
      std::unique_lock lock(backend_.mutex_);
      const std::size_t needed = alone ? backend_.streams_.size() : 1;
      // A sweep that waits for all streams goes first; otherwise it could starve.
      if (alone) ++backend_.waiting_alone_;
      backend_.freed_.wait(
          lock, [&] { return backend_.free_.size() >= needed && (alone || backend_.waiting_alone_ == 0); });
      if (alone) --backend_.waiting_alone_;
      for (std::size_t i = 0; i < needed; ++i) {
        held_.push_back(backend_.free_.back());
        backend_.free_.pop_back();
      }
      if (alone)
        for (SweepStream* stream : held_) stream->release();
      alone_ = alone;
    }
    Hold(const Hold&) = delete;
    ~Hold() {
      if (alone_) stream().release();
      {
        const std::lock_guard lock(backend_.mutex_);
        backend_.free_.insert(backend_.free_.end(), held_.begin(), held_.end());
      }
      backend_.freed_.notify_all();
    }
    SweepStream& stream() const { return *held_.front(); }

   private:
    CudaBackend& backend_;
    std::vector<SweepStream*> held_;
    bool alone_ = false;
  };

  /// Memory share in bytes of a stream while others run concurrently.
  std::size_t share() const { return limit_ / streams_.size(); }

  /// Limits the cache of source images to what is left if all streams sweep views like the largest so far;
  /// to nothing for a view that needs more than the share of a stream.
  void leave_memory_to(const SweepPlan& planned) {
    const std::lock_guard lock(budget_mutex_);
    if (planned.bytes > share()) return images_.set_budget(0);
    sweep_bytes_ = std::max(sweep_bytes_, planned.sweep_bytes);
    path_bytes_ = std::max(path_bytes_, planned.path_bytes);
    images_.set_budget(image_budget());
  }
  void leave_memory_to(const PairProblem& problem) {
    const std::lock_guard lock(budget_mutex_);
    pair_bytes_ = std::max(pair_bytes_, pair_stream_bytes(pair_shape(problem), problem.options));
    images_.set_budget(image_budget());
  }
  std::size_t image_budget() const {
    const std::size_t arenas = streams_.size() * (sweep_bytes_ + path_bytes_) + pair_bytes_;
    return limit_ - std::min(limit_, arenas);
  }

  /// Host bytes of the costs that the CPU stages take, and of these stages.
  std::size_t host_bytes(const SweepShape& shape, const SweepPlan& plan) const {
    if (!plan.on_host) return 0;
    const Tile block{0, 0, plan.width, plan.height};
    return Volume<float>::bytes(plan.width, shape.planes, plan.height) +
           optimized_block_bytes(shape, block, oneapi::tbb::task_arena(host_threads_).max_concurrency());
  }

  /// Within the memory share of a stream if possible, else with the whole limit, alone.
  SweepPlan plan(const SweepShape& shape, const SweepOptions& options, SweepPath path) const {
    try {
      return plan_sweep(shape, options, path, {multiprocessors_, share()});
    } catch (const OutOfMemory&) {
      return plan_sweep(shape, options, path, {multiprocessors_, limit_});
    }
  }

  int device_;
  int host_threads_;  ///< for graph cuts
  int multiprocessors_ = 1;
  std::string name_;
  std::size_t limit_ = 0;
  ImageCache images_;
  std::mutex budget_mutex_;
  std::size_t sweep_bytes_ = 0, path_bytes_ = 0, pair_bytes_ = 0;  ///< of the largest arenas so far
  std::vector<SweepStream> streams_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<SweepStream*> free_;
  int waiting_alone_ = 0;
  std::mutex pair_mutex_;
  std::optional<PairWorkspace> pair_workspace_;
};

}  // namespace

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
    const std::string reason = why_unusable(device);
    if (reason.empty())
      found.names.push_back(device_name(device));
    else
      reasons += (reasons.empty() ? "" : "; ") + ("cuda:" + std::to_string(device) + ": ") + reason;
  }
  if (found.names.empty()) found.why_none = reasons.empty() ? "CUDA sees no GPU" : reasons;
  return found;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace recon
