#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/device/stream.hpp"

namespace recon::cuda {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const noexcept { static_cast<void>(cudaGraphDestroy(graph)); }
  void operator()(cudaGraphExec_t graph) const noexcept { static_cast<void>(cudaGraphExecDestroy(graph)); }
};

/// Owner of the description of a CUDA graph: work that is launched as a whole.
using GraphPlan = std::unique_ptr<CUgraph_st, DestroyGraph>;

/// Captures the work that `queue` submits to `stream` and to streams that it joins; nothing runs.
template <class Queue>
GraphPlan captured(const Stream& stream, const Queue& queue) {
  RECON_CUDA_TRY(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    queue();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
    if (graph) static_cast<void>(cudaGraphDestroy(graph));
    throw;
  }
  RECON_CUDA_TRY(cudaStreamEndCapture(stream.get(), &graph));
  return GraphPlan(graph);
}

/// Owner of a CUDA graph that can be launched. Launches run one after the other, on whatever streams.
class Graph {
 public:
  explicit Graph(const GraphPlan& plan) {
    cudaGraphExec_t graph = nullptr;
    RECON_CUDA_TRY(cudaGraphInstantiate(&graph, plan.get(), 0));
    graph_.reset(graph);
  }
  /// Of what `queue` submits, see captured.
  template <class Queue>
  Graph(const Stream& stream, const Queue& queue) : Graph(captured(stream, queue)) {}

  cudaGraphExec_t get() const { return graph_.get(); }

  /// Queues the copy of what launches need to the device, which the first launch does otherwise.
  void upload(const Stream& stream) const { RECON_CUDA_TRY(cudaGraphUpload(get(), stream.get())); }
  void launch(cudaStream_t stream) const { RECON_CUDA_TRY(cudaGraphLaunch(get(), stream)); }

 private:
  std::unique_ptr<CUgraphExec_st, DestroyGraph> graph_;
};

}  // namespace recon::cuda
