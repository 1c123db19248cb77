#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/methods/stereo/device_images.hpp"
#include "match/ad_census_step.hpp"

namespace recon::cuda {
namespace {

/// A thread for each pixel, a layer of thread blocks for each image.
__global__ void __launch_bounds__(kRefineThreads) import_kernel(PairSources from, PairTargets to) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int i = static_cast<int>(blockIdx.z);
  if (x >= from.width) return;
  const std::uint8_t* pixel = from.data[i] + y * from.pitch[i] + x * from.channels;
  const Rgb8 colour = from.channels == 1 ? Rgb8{*pixel, *pixel, *pixel} : Rgb8{pixel[0], pixel[1], pixel[2]};
  if (to.grey[i] != nullptr)
    to.grey[i][y * to.grey_pitch + x] =
        from.channels == 1 ? colour.r : static_cast<std::uint8_t>(grey_of(colour));
  if (to.colours[i] != nullptr) to.colours[i][static_cast<std::ptrdiff_t>(y) * from.width + x] = colour;
}

__global__ void __launch_bounds__(kRefineThreads) export_kernel(PairResult from, ExportedMap to) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= to.width) return;
  const std::ptrdiff_t at = y * from.pitch + x;
  float disparity = from.of_planes ? static_cast<float>(from.min_disparity + from.planes[at]) : from.map[at];
  if (from.labels != nullptr && disparity == disparity && from.sizes[from.labels[at]] < from.min_size)
    disparity = kUnknown;
  to.data[y * to.pitch + x] = disparity;
}

dim3 import_grid(const PairSources& from) {
  dim3 grid = rows_grid(from.width, from.height);
  grid.z = 2;
  return grid;
}

/// Calls `use` with a kernel of two arguments as a node of a graph has it.
template <class First, class Second, class Use>
void with_node(void (*kernel)(First, Second), dim3 grid, First first, Second second, const Use& use) {
  void* arguments[] = {&first, &second};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(kernel);
  node.gridDim = grid;
  node.blockDim = dim3(kRefineThreads);
  node.kernelParams = arguments;
  use(node);
}

}  // namespace

void launch_import(const PairSources& from, const PairTargets& to, cudaStream_t stream) {
  import_kernel<<<import_grid(from), kRefineThreads, 0, stream>>>(from, to);
  RECON_CUDA_TRY(cudaGetLastError());
}

cudaGraphNode_t add_import(cudaGraph_t graph, const PairSources& from, const PairTargets& to) {
  cudaGraphNode_t added = nullptr;
  with_node(import_kernel, import_grid(from), from, to, [&](const cudaKernelNodeParams& node) {
    RECON_CUDA_TRY(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node));
  });
  return added;
}

void change_import(cudaGraphExec_t graph, cudaGraphNode_t node, const PairSources& from,
                   const PairTargets& to) {
  with_node(import_kernel, import_grid(from), from, to, [&](const cudaKernelNodeParams& changed) {
    RECON_CUDA_TRY(cudaGraphExecKernelNodeSetParams(graph, node, &changed));
  });
}

void launch_export(const PairResult& from, const ExportedMap& to, cudaStream_t stream) {
  export_kernel<<<rows_grid(to.width, to.height), kRefineThreads, 0, stream>>>(from, to);
  RECON_CUDA_TRY(cudaGetLastError());
}

cudaGraphNode_t add_export(cudaGraph_t graph, cudaGraphNode_t after, const PairResult& from,
                           const ExportedMap& to) {
  cudaGraphNode_t added = nullptr;
  with_node(export_kernel, rows_grid(to.width, to.height), from, to, [&](const cudaKernelNodeParams& node) {
    RECON_CUDA_TRY(cudaGraphAddKernelNode(&added, graph, &after, 1, &node));
  });
  return added;
}

void change_export(cudaGraphExec_t graph, cudaGraphNode_t node, const PairResult& from,
                   const ExportedMap& to) {
  with_node(export_kernel, rows_grid(to.width, to.height), from, to,
            [&](const cudaKernelNodeParams& changed) {
              RECON_CUDA_TRY(cudaGraphExecKernelNodeSetParams(graph, node, &changed));
            });
}

}  // namespace recon::cuda
