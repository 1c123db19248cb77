#include <oneapi/tbb/task_arena.h>

#include <optional>
#include <utility>
#include <vector>

#include "cuda/methods/self_test.hpp"
#include "cuda/methods/stereo/pair.hpp"
#include "cuda/methods/sweep/sweep_stream.hpp"
#include "methods/admission.hpp"
#include "methods/backend.hpp"
#include "methods/sweep/block_stages.hpp"
#include "methods/sweep/sweep_shape.hpp"

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
    admission_.emplace(options.streams, limit_);
    streams_.reserve(static_cast<std::size_t>(options.streams));
    for (int i = 0; i < options.streams; ++i) streams_.push_back({SweepStream(host_threads_), {}});
  }

  ~CudaBackend() override { static_cast<void>(cudaSetDevice(device_)); }  // the streams are freed on it

  std::string name() const override { return name_; }
  int streams() const override { return static_cast<int>(streams_.size()); }

  WorkMemory memory(const SweepShape& shape) const override {
    const CurrentDevice current(device_);
    // The shape does not contain the cost or the combination: assume the path with more memory, and the
    // lowest tiles.
    SweepOptions options;
    options.window = shape.options.window;
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
    const Hold hold(*this, planned.bytes);
    hold.stream().pair.arena.release();
    return hold.stream().sweep.sweep(problem, planned);
  }

  WorkMemory pair_memory(int width, int height, const PairOptions& options) const override {
    const CurrentDevice current(device_);
    constexpr std::size_t kStagingBytes = 10;  // at most, of page-locked memory per pixel
    WorkMemory memory;
    memory.host_bytes = kStagingBytes * static_cast<std::size_t>(padded_count<float>(width)) *
                        static_cast<std::size_t>(height);
    memory.device_bytes = match_pair_bytes(width, height, options);
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
    const ImageView<const std::uint8_t>& image = problem.images.left;
    const Hold hold(*this, match_pair_bytes(image.width, image.height, problem.options));
    hold.stream().sweep.release();
    return match_pair(problem, hold.stream().pair);
  }

 private:
  /// Resources of one concurrent call, kept for the next one.
  struct DeviceStream {
    SweepStream sweep;
    PairWorkspace pair;

    void release() {
      sweep.release();
      pair.arena.release();
    }
  };

  /// The resources of an admitted call. Where it needs more memory than its stream's share, that of the other
  /// streams it holds is released before, and its own after it.
  class Hold {
   public:
    Hold(CudaBackend& backend, std::size_t bytes)
        : streams_(backend.streams_), permit_(backend.admission_->admit(bytes)) {
      if (large())
        for (const int i : permit_.streams()) at(i).release();
    }
    Hold(const Hold&) = delete;
    ~Hold() {
      if (large()) stream().release();
    }
    DeviceStream& stream() const { return at(permit_.streams().front()); }

   private:
    bool large() const { return permit_.streams().size() > 1; }
    DeviceStream& at(int stream) const { return streams_[static_cast<std::size_t>(stream)]; }

    std::vector<DeviceStream>& streams_;
    Admission::Permit permit_;
  };

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
      return plan_sweep(shape, options, path, {multiprocessors_, admission_->share()});
    } catch (const OutOfMemory&) {
      return plan_sweep(shape, options, path, {multiprocessors_, limit_});
    }
  }

  int device_;
  int host_threads_;  ///< for graph cuts
  int multiprocessors_ = 1;
  std::string name_;
  std::size_t limit_ = 0;
  std::vector<DeviceStream> streams_;
  std::optional<Admission> admission_;
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
