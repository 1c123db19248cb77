#include "cuda/device/error.hpp"
#include "cuda/methods/sweep/edge_planes.hpp"
#include "methods/sweep/depth_step.hpp"

namespace recon::cuda {

namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;

/// What the kernels read.
struct EdgeArgs {
  PatchStates states;
  InverseRange range;
  const std::uint8_t* reference;
  int reference_pitch;
};

__device__ int column() {
  return static_cast<int>(blockIdx.x * kBlockWidth + threadIdx.x);
}
__device__ int line() {
  return static_cast<int>(blockIdx.y * kBlockHeight + threadIdx.y);
}

__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    inside_kernel(const EdgeArgs args, std::uint8_t* inside) {
  const int x = column(), y = line();
  if (!args.states.contains(x, y)) return;
  inside[y * args.states.width + x] = is_inside_surface(args.states, x, y) ? 1 : 0;
}

__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    edge_kernel(const EdgeArgs args, const std::uint8_t* inside, float* depth, float* cost,
                float* confidence) {
  const int x = column(), y = line();
  if (!args.states.contains(x, y)) return;
  const PatchState state = edge_state(
      args.states, x, y, args.range, [&](int i, int j) { return inside[j * args.states.width + i] != 0; },
      [&](int i, int j) { return static_cast<int>(args.reference[j * args.reference_pitch + i]); });
  const WinnerDepth result = patch_depth(state);
  const int i = y * args.states.width + x;
  depth[i] = result.depth, cost[i] = result.cost, confidence[i] = result.confidence;
}

}  // namespace

void launch_edge_depths(const PatchArgs& args, std::uint8_t* inside, float* const (&results)[3],
                        cudaStream_t stream) {
  const dim3 block(kBlockWidth, kBlockHeight);
  const dim3 grid(static_cast<unsigned>((args.states.width + kBlockWidth - 1) / kBlockWidth),
                  static_cast<unsigned>((args.states.height + kBlockHeight - 1) / kBlockHeight));
  const EdgeArgs edges{args.states, args.iteration.range, args.reference, args.reference_pitch};
  inside_kernel<<<grid, block, 0, stream>>>(edges, inside);
  RECON_CUDA_TRY(cudaGetLastError());
  edge_kernel<<<grid, block, 0, stream>>>(edges, inside, results[0], results[1], results[2]);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
