#pragma once

#include <algorithm>

#include "core/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/optimize/belief/belief_kernel.cuh"

namespace recon::cuda {

/// A level with at most this many groups of 32 pixels per warp of a thread block is processed by one thread
/// block: its barrier is faster than that of a grid.
inline constexpr int kOneBlockRounds = 1;

/// Warps of a thread block that get work before another thread block is used: more would compete while other
/// multiprocessors are idle.
inline constexpr int kSpreadWarps = 2;

/// Thread blocks for a level of `warps` groups of 32 pixels, with `per_block` warps per thread block.
inline int blocks_of_level(int warps, int per_block, int most) {
  if (warps <= kOneBlockRounds * per_block) return 1;
  return std::min(divided_up(warps, kSpreadWarps), most);
}

struct BeliefLaunch {
  int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  int shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);  ///< max per thread block

  /// Threads per block, at most `most`, each with `bytes` of shared memory, so that the thread blocks of a
  /// multiprocessor share it evenly; a tenth is left to the L1 cache.
  int threads(int most, int most_blocks, int bytes) const {
    if (bytes == 0) return most;
    const int fit = std::min(shared_bytes / 10 * 9 / bytes, most * most_blocks);
    return fit / divided_up(fit, most) / kWarp * kWarp;
  }

  template <class Kernel>
  void run(Kernel kernel, const BeliefArgs& args, int threads, std::size_t shared,
           cudaStream_t stream) const {
    if (shared > 0) allow_shared_memory(kernel);
    int per_multiprocessor = 0;
    RECON_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared));
    EXPECTS(per_multiprocessor > 0);
    BeliefArgs shared_out = args;
    int blocks = per_multiprocessor * multiprocessors;
    for (int i = 0; i < args.level_count; ++i) {
      blocks = shared_out.blocks[i] =
          blocks_of_level(args.levels[i].groups * args.levels[i].height, threads / kWarp, blocks);
    }
    void* parameters[] = {&shared_out};
    RECON_CUDA_TRY(cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(shared_out.blocks[0])),
        dim3(static_cast<unsigned>(threads)), parameters, shared, stream));
    RECON_CUDA_TRY(cudaGetLastError());
  }
};

template <class T, int kDisparities>
void launch_iterations_of(const BeliefArgs& args, cudaStream_t stream) {
  const int bytes = Segments(args.disparities, kSegmentOf<kDisparities>).states() * int{sizeof(float4)};
  const BeliefLaunch launch;
  const int threads = launch.threads(kMaxBeliefThreads<kDisparities>, kBeliefBlocks<kDisparities>, bytes);
  launch.run(belief_kernel<T, kDisparities>, args, threads, static_cast<std::size_t>(threads * bytes),
             stream);
}

/// Thread blocks of a kernel whose warps process groups of 32 pixels in any order.
inline unsigned plain_blocks(int pieces) {
  constexpr int kMost = 1 << 16;
  return static_cast<unsigned>(std::clamp(divided_up(pieces, kPlainThreads / kWarp), 1, kMost));
}

/// Runs the iterations of all levels, with a specialized kernel for common numbers of disparities.
template <class T>
void launch_iterations(const BeliefArgs& args, cudaStream_t stream) {
  switch (args.disparities) {
    case 16:
      return launch_iterations_of<T, 16>(args, stream);
    case 21:
      return launch_iterations_of<T, 21>(args, stream);
    case 32:
      return launch_iterations_of<T, 32>(args, stream);
    case 64:
      return launch_iterations_of<T, 64>(args, stream);
    case 128:
      return launch_iterations_of<T, 128>(args, stream);
    default:
      return launch_iterations_of<T, 0>(args, stream);
  }
}

template <class T>
void launch_belief_stored_as(const BeliefArgs& args, cudaStream_t stream) {
  const int chunks = divided_up(args.disparities, kCostChunk);
  for (int i = 0; i == 0 || i + 1 < args.level_count; ++i) {
    const BeliefGrid& level = args.levels[i];
    const int pieces = divided_up(divided_up(level.width, 2), kWarp) * divided_up(level.height, 2) * chunks;
    costs_kernel<T><<<plain_blocks(pieces), kPlainThreads, 0, stream>>>(args, i);
    RECON_CUDA_TRY(cudaGetLastError());
  }
  launch_iterations<T>(args, stream);
  const BeliefGrid& finest = args.levels[0];
  choose_kernel<T><<<plain_blocks(finest.groups * finest.height * 2), kPlainThreads, 0, stream>>>(args);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
