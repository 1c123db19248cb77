#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/counted_memory.hpp"
#include "core/log.hpp"
#include "core/unique_id.hpp"
#include "cuda/device/current_device.hpp"
#include "cuda/device/image_cache.hpp"
#include "cuda/device/staging.hpp"
#include "cuda/fuse/agreement.hpp"
#include "cuda/fuse/fusion_stream.hpp"
#include "cuda/methods/device_budget.hpp"
#include "cuda/methods/devices.hpp"
#include "cuda/methods/stereo/graph_matcher.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/methods/sweep/device_sweeper.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "cuda/refine/normals.hpp"
#include "fuse/agreement.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair_stages.hpp"
#include "methods/sweep/view_sweep.hpp"

namespace recon {
namespace cuda {
namespace {

/// What may be taken of the memory: kernels and other programs need some.
std::size_t usable_memory() {
  return free_memory() / 10 * 9;
}

// The work of the host on the costs of a GPU, whose memory is counted.

void cut_largest_block(SweepShape shape) {
  const Tile largest = largest_block(blocks_of(shape)), block{0, 0, largest.width, largest.height};
  shape.width = block.width;
  shape.height = block.height;
  DepthEstimate view;
  optimize_block(sized_problem(shape), {block, block}, Volume<float>(block.width, shape.planes, block.height),
                 view);
}

void cut_view(int width, int height, const PairSpec& options) {
  Volume<float> costs(width, options.range.count, height);
  Image<float> disparity(width, height);
  cut_disparities(options, costs.view(), sized_view<std::uint8_t>(width, height), disparity.view());
}

/// Resources for work on the maps of one view at a time on one device, where they stay as long as the cache
/// has memory. Not thread-safe; the device must be current in the calling thread.
class MapStream {
 public:
  explicit MapStream(ImageCache& cache) : cache_(cache) {}

  /// See recon::normals_from_depth; empty if the cache has too little memory.
  /// @param id  of the maps, see DepthSource
  /// @throws OutOfMemory, DeviceError
  std::optional<Image<Vec3f>> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id) {
    const ImageCache::Release release(&cache_, uses_);
    const std::optional<DeviceMaps> maps =
        acquire(camera, id, [&](const DeviceMaps& found) { compute_normals(depth, camera, found); });
    if (!maps) return std::nullopt;
    return downloaded_normals(*maps);
  }

  /// See recon::checked_normals; empty if the cache has too little memory.
  /// @throws OutOfMemory, DeviceError
  std::optional<Image<Vec3f>> checked_normals(ImageView<const float> depth, const Pinhole& camera) {
    const ImageCache::Release release(&cache_, uses_);
    const std::uint64_t id = scratch_id(camera);
    const auto maps = acquire(camera, id, [](const DeviceMaps&) {});
    const auto means = maps ? acquire(camera, id + 1, [](const DeviceMaps&) {}) : std::nullopt;
    if (!means) return std::nullopt;
    compute_normals(depth, camera, *maps);
    launch_mean_normals(maps->depth, maps->normal, maps->width, maps->height, means->normal, stream_.get());
    return downloaded_normals(*means);
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
      launch_agreement(agreement_geometry(reference, source, options), *view, *other, stream_.get());
    }
    staging_.download<Agreement>(view->counts, view->width, counts.view(), stream_);
    return counts;
  }

 private:
  using Upload = std::function<void(const DeviceMaps& maps)>;

  void compute_normals(ImageView<const float> depth, const Pinhole& camera, const DeviceMaps& maps) {
    EXPECTS(depth.width == camera.width && depth.height == camera.height);
    staging_.upload(depth, maps.depth, maps.width, stream_);
    launch_normals(maps.depth, camera, maps.normal, stream_.get());
  }

  Image<Vec3f> downloaded_normals(const DeviceMaps& maps) {
    Image<Vec3f> normals(maps.width, maps.height);
    staging_.download<Vec3f>(maps.normal, maps.width, normals.view(), stream_);
    return normals;
  }

  /// The first of two ids of maps of a camera's size that every call may replace.
  std::uint64_t scratch_id(const Pinhole& camera) {
    const auto [found, added] = scratch_ids_.try_emplace({camera.width, camera.height});
    if (added) found->second = unique_ids(2);
    return found->second;
  }

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
  std::vector<ImageCache::Use> uses_;                         ///< of the call in progress
  std::map<std::pair<int, int>, std::uint64_t> scratch_ids_;  ///< by size
  Stream stream_;
  Staging staging_;
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
    const CurrentDevice current(device_);
    budget_.emplace(options.streams, options.memory_limit ? *options.memory_limit : usable_memory(),
                    budgeted_device());
    workspaces_.resize(static_cast<std::size_t>(options.streams));
    for (Workspace& workspace : workspaces_) workspace.host_threads = host_threads_;
  }

  ~CudaBackend() override { destructor_.begin(device_); }

  std::string name() const override { return name_; }
  bool is_gpu() const override { return true; }
  int streams() const override { return static_cast<int>(workspaces_.size()); }

  WorkMemory memory(const SweepShape& shape) const override {
    const CurrentDevice current(device_);
    const SweepPlan planned = plan(shape);
    const std::size_t host = counted_bytes(host_threads(), [&] {
      const DepthEstimate result = uninitialised_estimate(shape.width, shape.height);
      if (has_graph_cut(shape)) cut_largest_block(has_patches(shape) ? coarsest_shape(shape) : shape);
    });
    return {Staging::kBytes + host, planned.bytes, planned.tiles};
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
    WorkMemory memory;
    memory.host_bytes = Staging::kBytes + counted_bytes(host_threads(), [&] {
                          const Image<float> result(width, height);
                          if (has_graph_cut(options)) cut_view(width, height, options);
                        });
    memory.device_bytes = bytes_taken(PairMethod{{width, height}, options});
    check_pair_bytes(width, height, options, memory.device_bytes, "--device cpu works without");
    return memory;
  }

  DisparityMap match(const PairProblem& problem) override {
    check_pair(problem);
    const CurrentDevice current(device_);
    const std::size_t bytes = bytes_taken(PairMethod{pair_shape(problem), problem.options});
    const auto hold = budget_->admit(bytes);
    Workspace& workspace = workspace_of(hold, bytes);
    // A loop that waits here must not start another match, which would wait for this stream.
    return oneapi::tbb::this_task_arena::isolate(
        [&] { return budget_->run([&] { return match_pair(problem, workspace); }); });
  }

  std::unique_ptr<DeviceMatcher> device_matcher(const DeviceMatching& matching) override {
    const CurrentDevice current(device_);
    check_pair_bytes(matching.width, matching.height, matching.spec, bytes_taken(method_of(matching)),
                     "images of fewer pixels and fewer disparities need less");
    return make_graph_matcher(matching);
  }

  std::unique_ptr<DeviceSweeper> device_sweeper(const DeviceSweeping& sweeping) override {
    const CurrentDevice current(device_);
    return make_view_sweeper(sweeping, budget_->bytes());
  }

  Image<Vec3f> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id) override {
    const CurrentDevice current(device_);
    auto normals = with_maps(normals_, [&](MapStream& maps) { return maps.normals(depth, camera, id); });
    return normals ? std::move(*normals) : Backend::normals(depth, camera, id);
  }

  Image<Vec3f> checked_normals(ImageView<const float> depth, const Pinhole& camera) override {
    const CurrentDevice current(device_);
    // Checks do not keep estimations waiting: a stream of their own.
    auto normals =
        with_maps(checked_normals_, [&](MapStream& maps) { return maps.checked_normals(depth, camera); });
    return normals ? std::move(*normals) : Backend::checked_normals(depth, camera);
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
  /// Fuses on the device of the backend: makes the points of a view while the next one is begun.
  class Fusion : public DeviceFusion {
   public:
    Fusion(CudaBackend& backend, const std::vector<FusionView>& views, const FusionOptions& options)
        : backend_(backend), keys_(views.size(), kMaxStreams) {
      for (std::size_t i = 0; i < (views.size() < kManyViews ? 1 : kMaxStreams); ++i)
        streams_.push_back(std::make_unique<FusionStream>(backend.images_, keys_, i, views, options));
    }
    ~Fusion() override { destructor_.begin(backend_.device_); }

    bool has(int view) const override { return backend_.images_.has(keys_.maps(view)); }
    std::unique_ptr<FusionInProgress> begin(const FusionJob& job) override {
      const CurrentDevice current(backend_.device_);
      backend_.budget_->limit_images();
      FusionStream* free = nullptr;
      std::size_t others = 0;
      for (const auto& stream : streams_) {
        if (stream->bytes() == 0) free = stream.get();
        others += stream->bytes();
      }
      if (free == nullptr || !free->begin(job, others)) return nullptr;
      return std::make_unique<FusedView>(backend_.device_, *free);
    }

   private:
    static constexpr std::size_t kMaxStreams = 2;
    /// To lock the pages of a stream takes as long as a second stream saves over so many views.
    static constexpr std::size_t kManyViews = 24;

    DeviceOfDestructor destructor_;
    CudaBackend& backend_;
    const FusionMemoryKeys keys_;
    std::vector<std::unique_ptr<FusionStream>> streams_;
  };

  /// A view that a stream fuses.
  class FusedView : public FusionInProgress {
   public:
    FusedView(int device, FusionStream& stream) : device_(device), stream_(stream) {}
    ~FusedView() override { stream_.end(); }

    void mark() override {
      const CurrentDevice current(device_);
      stream_.mark();
    }
    void pass_on(PointSink& sink, FusionProgress& progress) override {
      const CurrentDevice current(device_);
      stream_.pass_on(sink, progress);
    }

   private:
    int device_;
    FusionStream& stream_;
  };

  /// @param advice  what to do then
  /// @throws OutOfMemory when the device memory of a pair exceeds the limit
  void check_pair_bytes(int width, int height, const PairSpec& options, std::size_t bytes,
                        const char* advice) const {
    if (bytes <= budget_->bytes()) return;
    throw OutOfMemory("a pair of " + std::to_string(width) + "x" + std::to_string(height) + " with " +
                      std::to_string(options.range.count) + " disparities needs " +
                      std::to_string(bytes >> 20) + " MiB of device memory, the limit is " +
                      std::to_string(budget_->bytes() >> 20) + " MiB; " + advice);
  }

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

  DeviceOfDestructor destructor_;
  int device_;
  int host_threads_;  ///< for graph cuts
  std::string name_;
  ImageCache images_;
  SharedMapStream normals_, checked_normals_, agreement_;
  std::vector<Workspace> workspaces_;  ///< by stream
  std::optional<DeviceBudget> budget_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace recon
