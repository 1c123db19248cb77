#include "cuda/methods/stereo/graph_matcher.hpp"

#include <optional>
#include <string>

#include "cuda/device/graph.hpp"
#include "cuda/methods/device_calls.hpp"

namespace recon::cuda {
namespace {

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
class MatcherWork {
 public:
  explicit MatcherWork(const DeviceMatching& matching) : executor_(method_of(matching), arena_) {
    Workspace workspace;
    const Stream& stream = workspace.stream;
    executor_.upload_constants(workspace);
    graph_.emplace(matching, executor_, captured(stream, [&] { executor_.queue(workspace); }));
    graph_->graph().upload(stream);
    stream.synchronize();
  }
  ~MatcherWork() { order.synchronize(); }  // before the memory is freed

  void queue(const DevicePair& pair, cudaStream_t stream) {
    const auto& [left, right, disparity] = pair;
    order.wait_for(left.stream, stream);
    order.wait_for(right.stream, stream);
    order.wait_for(disparity.stream, stream);
    graph_->change(
        {{left.data, right.data}, {left.pitch, right.pitch}, left.channels, left.width, left.height},
        {disparity.data, disparity.pitch / static_cast<std::ptrdiff_t>(sizeof(float)), disparity.width,
         disparity.height});
    graph_->graph().launch(stream);
    order.end(stream);
  }

  std::size_t bytes() const { return arena_.capacity(); }

  CallOrder order;

 private:
  Arena arena_;
  PairExecutor executor_;
  std::optional<PairGraph> graph_;
};

class GraphMatcher : public DeviceCalls<DeviceMatcher, MatcherWork> {
 public:
  explicit GraphMatcher(const DeviceMatching& matching)
      : DeviceCalls(std::make_unique<MatcherWork>(matching), "the matcher", "match()"), matching_(matching) {}

  void match(const std::vector<DevicePair>& pairs, void* stream) override {
    const CurrentDevice current(device_);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::string of = pairs.size() == 1 ? "" : "pair " + std::to_string(i) + ": ";
      check_device_pair(matching_, pairs[i], of);
      check(of + "left", pairs[i].left.data);
      check(of + "right", pairs[i].right.data);
      check(of + "disparity", pairs[i].disparity.data);
    }
    in_order([&](MatcherWork& work) {
      for (const DevicePair& pair : pairs) work.queue(pair, static_cast<cudaStream_t>(stream));
    });
  }

 private:
  const DeviceMatching matching_;
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
