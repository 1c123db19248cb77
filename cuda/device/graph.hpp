#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/device/stream.hpp"

namespace recon::cuda {

/// Owner of a CUDA graph: work that is recorded once and launched as a whole. Move-only.
class Graph {
 public:
  Graph() = default;

  /// Captures the work that `queue` submits to `stream` and to streams that it joins; nothing runs.
  template <class Queue>
  Graph(const Stream& stream, const Queue& queue) {
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
    const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    RECON_CUDA_TRY(error);
  }
  Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~Graph() {
    if (graph_) static_cast<void>(cudaGraphExecDestroy(graph_));
  }

  void launch(const Stream& stream) const { RECON_CUDA_TRY(cudaGraphLaunch(graph_, stream.get())); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace recon::cuda
