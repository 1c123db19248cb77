#include "cuda/methods/stereo/graph_matcher.hpp"

#include <mutex>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "cuda/device/current_device.hpp"
#include "cuda/device/graph.hpp"

namespace recon::cuda {
namespace {

/// @throws UsageError where memory is not on the device
void check_memory(const char* name, const void* data, int device) {
  cudaPointerAttributes memory{};
  const bool known = cudaPointerGetAttributes(&memory, data) == cudaSuccess;
  if (!known) static_cast<void>(cudaGetLastError());
  if (known && memory.type == cudaMemoryTypeManaged) return;
  if (!known || memory.type != cudaMemoryTypeDevice)
    throw UsageError(std::string(name) +
                     " is not in the memory of a GPU; images in host memory are for match()");
  if (memory.device != device)
    throw UsageError(std::string(name) + " is in the memory of cuda:" + std::to_string(memory.device) +
                     "; the matcher is on cuda:" + std::to_string(device));
}

/// The stages as one graph, between a kernel that reads the images of a call and one that writes its map.
class PairGraph {
 public:
  /// @param stages  captured, of this executor
  PairGraph(const DeviceMatching& matching, const PairExecutor& executor, const GraphPlan& stages)
      : executor_(executor),
        images_{{}, {}, matching.channels, matching.width, matching.height},
        map_{nullptr, matching.width, matching.width, matching.height} {
    cudaGraph_t empty = nullptr;
    RECON_CUDA_TRY(cudaGraphCreate(&empty, 0));
    plan_.reset(empty);
    import_ = add_import(plan_.get(), images_, executor.targets());
    cudaGraphNode_t child = nullptr;
    RECON_CUDA_TRY(cudaGraphAddChildGraphNode(&child, plan_.get(), &import_, 1, stages.get()));
    export_ = add_export(plan_.get(), child, executor.result(), map_);
    graph_.emplace(plan_);
  }

  /// Of later launches.
  void change(const PairSources& images, const ExportedMap& map) {
    if (!(images == images_)) change_import(graph_->get(), import_, images, executor_.targets());
    images_ = images;
    if (!(map == map_)) change_export(graph_->get(), export_, executor_.result(), map);
    map_ = map;
  }

  const Graph& graph() const { return *graph_; }

 private:
  const PairExecutor& executor_;
  PairSources images_;  ///< of the next launch, as the map
  ExportedMap map_;
  GraphPlan plan_;
  cudaGraphNode_t import_ = nullptr, export_ = nullptr;
  std::optional<Graph> graph_;
};

/// What a matcher has on its device.
class Work {
 public:
  explicit Work(const DeviceMatching& matching) : executor_(method_of(matching), arena_) {
    Workspace workspace;
    const Stream& stream = workspace.stream;
    executor_.upload_constants(workspace);
    graph_.emplace(matching, executor_, captured(stream, [&] { executor_.queue(workspace); }));
    graph_->graph().upload(stream);
    stream.synchronize();
  }
  ~Work() { static_cast<void>(cudaEventSynchronize(done_.get())); }  // before the memory is freed

  void queue(const DevicePixels& left, const DevicePixels& right, const DeviceFloats& disparity,
             cudaStream_t stream) {
    wait_for(left.stream, stream);
    wait_for(right.stream, stream);
    wait_for(disparity.stream, stream);
    graph_->change(
        {{left.data, right.data}, {left.pitch, right.pitch}, left.channels, left.width, left.height},
        {disparity.data, disparity.pitch / static_cast<std::ptrdiff_t>(sizeof(float)), disparity.width,
         disparity.height});
    graph_->graph().launch(stream);
    RECON_CUDA_TRY(cudaEventRecord(done_.get(), stream));
  }

  /// Lets later work of a stream wait for the last call.
  void order_after(cudaStream_t stream) const { RECON_CUDA_TRY(cudaStreamWaitEvent(stream, done_.get(), 0)); }

  std::size_t bytes() const { return arena_.capacity(); }

 private:
  /// Lets later work of a stream wait for what is queued on another one, that of an image or a map.
  void wait_for(std::optional<void*> other, cudaStream_t stream) {
    if (!other || *other == stream) return;
    RECON_CUDA_TRY(cudaEventRecord(queued_.get(), static_cast<cudaStream_t>(*other)));
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream, queued_.get(), 0));
  }

  Arena arena_;
  PairExecutor executor_;
  std::optional<PairGraph> graph_;
  Event queued_{EventTiming::kNone}, done_{EventTiming::kNone};
};

class GraphMatcher : public DeviceMatcher {
 public:
  explicit GraphMatcher(const DeviceMatching& matching)
      : matching_(matching), device_(current_device()), work_(std::make_unique<Work>(matching)) {}

  ~GraphMatcher() override {
    try {
      const CurrentDevice current(device_);
      work_.reset();
    } catch (const Error&) {
      // The device is lost, and its memory with it.
    }
  }

  void match(const DevicePixels& left, const DevicePixels& right, const DeviceFloats& disparity,
             void* stream) override {
    check_device_pair(matching_, left, right, disparity);
    const CurrentDevice current(device_);
    check_memory("left", left.data, device_);
    check_memory("right", right.data, device_);
    check_memory("disparity", disparity.data, device_);
    const std::lock_guard lock(mutex_);
    work_->queue(left, right, disparity, static_cast<cudaStream_t>(stream));
  }

  void order_after_match(void* stream) override {
    const CurrentDevice current(device_);
    const std::lock_guard lock(mutex_);
    work_->order_after(static_cast<cudaStream_t>(stream));
  }

  std::shared_ptr<float> new_map() const override {
    const CurrentDevice current(device_);
    const auto memory =
        std::make_shared<DeviceBuffer>(element_count({matching_.width, matching_.height}) * sizeof(float));
    return {memory, reinterpret_cast<float*>(memory->data())};
  }

  std::size_t bytes() const override { return work_->bytes(); }
  int device() const override { return device_; }

 private:
  const DeviceMatching matching_;
  const int device_;
  std::mutex mutex_;  ///< of the order of calls
  std::unique_ptr<Work> work_;
};

}  // namespace

PairMethod method_of(const DeviceMatching& matching) {
  check_runs_on_device(matching.spec);
  return {{matching.width, matching.height, false}, matching.spec, matching.min_patch};
}

std::unique_ptr<DeviceMatcher> make_graph_matcher(const DeviceMatching& matching) {
  return std::make_unique<GraphMatcher>(matching);
}

}  // namespace recon::cuda
