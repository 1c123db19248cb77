#include "cuda/device/error.hpp"
#include "cuda/optimize/patch_match/patch_match.hpp"
#include "cuda/optimize/patch_match/pixel_patch.cuh"
#include "optimize/patch_match/edge_planes_step.hpp"
#include "optimize/patch_match/smooth_planes_step.hpp"

namespace recon::cuda {
namespace {

/// Thread blocks per multiprocessor, which limits the registers: more of them wait less for loads, but beyond
/// this they take each other's place in the L1 cache.
constexpr int kTogether = 6;
/// The same where one source after the other is compared, which takes fewer registers.
constexpr int kRateTogether = 8;
/// The same where pixels agree on planes: as many as have their window in registers.
constexpr int kAgreeTogether = 4;

/// The pixel of a thread.
struct Pixel {
  int x, y;
};
__device__ Pixel thread_pixel() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

__device__ std::ptrdiff_t index_of(const PatchStates& states, int x, int y) {
  return static_cast<std::ptrdiff_t>(y) * states.width + x;
}

__global__ void first_plane_kernel(const __grid_constant__ PatchArgs args, const float* depth,
                                   std::ptrdiff_t pitch) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const SlantedPlane plane = first_plane(args.iteration.range, [&](int dx, int dy) {
    const int px = min(max(x + dx, 0), args.states.width - 1),
              py = min(max(y + dy, 0), args.states.height - 1);
    return depth[py * pitch + px];
  });
  args.states.at(x, y) = {plane, kNoPatchCost};
}

template <int R>
__global__ void __launch_bounds__(kPatchThreads, kTogether)
    refine_kernel(const __grid_constant__ PatchArgs args) {
  __shared__ PatchBlock<R> block;
  block.load(args);
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, block, x, y);
  const PatchSources sources = args.coarse_chosen[index_of(args.coarse, min(x / 2, args.coarse.width - 1),
                                                           min(y / 2, args.coarse.height - 1))];
  args.states.at(x, y) =
      finer_state(args.coarse, x, y, args.iteration.range,
                  [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
}

template <int R>
__global__ void __launch_bounds__(kPatchThreads, kRateTogether)
    rate_kernel(const __grid_constant__ PatchArgs args) {
  __shared__ PatchBlock<R> block;
  block.load(args);
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, row = pixel.y;
  const int y = row + args.row_begin;
  if (row >= args.rows || !args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, block, x, y);
  const SlantedPlane plane = args.states.at(x, y).plane;
  std::ptrdiff_t at = index_of(args.states, x, row);
#pragma unroll 1
  for (int s = 0; s < args.sources; ++s, at += index_of(args.states, 0, args.rows)) {
    const float cost = patch.visible_cost(s, plane);
    args.costs[at] = cost;
    args.rounded_costs[at] = cost < 0.0f ? kUnseen : rounded_cost(cost);
  }
}

__global__ void choose_kernel(const __grid_constant__ PatchArgs args, int begin, int end) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, row = pixel.y;
  const int y = begin + row;
  if (y >= end || !args.states.contains(x, y)) return;
  const auto index = [&](std::uint32_t s, int dx, int dy) {
    const auto of_source = static_cast<std::ptrdiff_t>(s) * index_of(args.states, 0, args.rows);
    return of_source + index_of(args.states, x + dx, y + dy - args.row_begin);
  };
  const PatchSources chosen =
      chosen_sources(args.sources, args.iteration.best_k, [&](int s, int dx, int dy) -> int {
        if (!args.states.contains(x + dx, y + dy)) return kUnseen;
        return args.rounded_costs[index(s, dx, dy)];
      });
  args.chosen[index_of(args.states, x, y)] = chosen;
  args.states.at(x, y).cost = mean_cost(chosen, kNoPatchCost, [&](std::uint32_t s) {
    const float cost = args.costs[index(s, 0, 0)];
    return cost < 0.0f ? kInvisibleCost : cost;
  });
}

/// States around pixels all of whose neighbours are inside the image.
struct InnerStates : PatchStates {
  __device__ explicit InnerStates(const PatchStates& states) : PatchStates(states) {}
  __device__ bool contains(int, int) const { return true; }
};

/// Whether the neighbours of all pixels of this thread block, every second of a row, are inside the image.
__device__ bool is_inner_block(const PatchStates& states) {
  const auto left = static_cast<int>(2 * blockIdx.x * blockDim.x),
             top = static_cast<int>(blockIdx.y * blockDim.y);
  return left >= kRegionReach && top >= kRegionReach &&
         left + 2 * kPatchBlockWidth + kRegionReach <= states.width &&
         top + kPatchBlockHeight + kRegionReach <= states.height;
}

template <int R>
__global__ void __launch_bounds__(kPatchThreads, kTogether)
    improve_kernel(const __grid_constant__ PatchArgs args, int colour) {
  __shared__ PatchBlock<R> block;
  block.load(args);
  const Pixel thread = thread_pixel();
  const int y = thread.y, x = 2 * thread.x + ((y + colour) & 1);
  if (!args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, block, x, y);
  const PatchSources sources = args.chosen[index_of(args.states, x, y)];
  const float w = args.states.at(x, y).plane.w;
  const float step = perturbation_step(
      sources, args.iteration.index, [&](std::uint32_t s) { return parallax(args.source[s].warp, x, y, w); });
  const bool inner = is_inner_block(args.states);
  args.states.at(x, y) = improved(
      args.states.at(x, y), x, y, args.iteration, step,
      [&](int region, SlantedPlane& plane) {
        return inner ? region_plane(InnerStates(args.states), x, y, args.iteration.range, region, plane)
                     : region_plane(args.states, x, y, args.iteration.range, region, plane);
      },
      [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
}

/// The planes that the pixels around each one agree on, see agreed_plane.
__global__ void __launch_bounds__(kPatchThreads, kAgreeTogether)
    agree_kernel(const __grid_constant__ PatchArgs args, PatchState* smooth) {
  constexpr int kWidth = kPatchBlockWidth + 2 * kAgreedMargin,
                kHeight = kPatchBlockHeight + 2 * kAgreedMargin;
  __shared__ float4 cells[kHeight][kWidth];
  const PatchStates& states = args.states;
  const auto left = static_cast<int>(blockIdx.x * blockDim.x) - kAgreedMargin,
             top = static_cast<int>(blockIdx.y * blockDim.y) - kAgreedMargin;
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < kWidth * kHeight;
       i += kPatchThreads) {
    const int x = left + i % kWidth, y = top + i / kWidth;
    AgreedCell cell{0.0f, 0.0f, 0.0f};
    if (states.contains(x, y))
      cell =
          agreed_cell(states.at(x, y), __ldg(args.reference + std::ptrdiff_t{y} * args.reference_pitch + x));
    cells[i / kWidth][i % kWidth] = make_float4(cell.w, cell.certainty, cell.grey, 0.0f);
  }
  __syncthreads();
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!states.contains(x, y)) return;
  const std::ptrdiff_t at = index_of(states, x, y);
  const float w = states.at(x, y).plane.w;
  const float unit =
      smooth_unit(args.chosen[at], [&](std::uint32_t s) { return parallax(args.source[s].warp, x, y, w); });
  const float4* centre = &cells[threadIdx.y + kAgreedMargin][threadIdx.x + kAgreedMargin];
  smooth[at].plane = agreed_plane_of_cells(states, x, y, args.iteration.range, unit, [&](int i, int j) {
    const float4 cell = centre[(j * kWidth + i) * kAgreedStride];
    return AgreedCell{cell.x, cell.y, cell.z};
  });
}

/// @param smooth  the agreed planes, replaced by the states
template <int R>
__global__ void __launch_bounds__(kPatchThreads, kTogether)
    smooth_kernel(const __grid_constant__ PatchArgs args, PatchState* smooth) {
  __shared__ PatchBlock<R> block;
  block.load(args);
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const std::ptrdiff_t i = index_of(args.states, x, y);
  const PixelPatch<R> patch(args, block, x, y);
  const PatchSources sources = args.chosen[i];
  smooth[i] = smoothed_state(
      args.states.at(x, y), smooth[i].plane, patch.sums(),
      [&](const SlantedPlane& offered, float bound) { return patch.cost(sources, offered, bound); });
}

__device__ void store_result(const WinnerDepth& result, std::ptrdiff_t i, float* depth, float* cost,
                             float* confidence) {
  depth[i] = result.depth, cost[i] = result.cost, confidence[i] = result.confidence;
}

__global__ void depth_kernel(const PatchStates states, float* depth, float* cost, float* confidence) {
  const Pixel pixel = thread_pixel();
  if (!states.contains(pixel.x, pixel.y)) return;
  store_result(patch_depth(states.at(pixel.x, pixel.y)), index_of(states, pixel.x, pixel.y), depth, cost,
               confidence);
}

__global__ void voter_kernel(const PatchStates states, int margin, EdgeVoter* voters) {
  const Pixel pixel = thread_pixel();
  if (!states.contains(pixel.x, pixel.y)) return;
  voters[index_of(states, pixel.x, pixel.y)] = edge_voter(states, pixel.x, pixel.y, margin);
}

/// What is read where edges move.
struct EdgeArgs {
  PatchStates states;
  InverseRange range;
  EdgePass pass;
  EdgeImage reference;
};

__global__ void edge_kernel(const EdgeArgs args, const EdgeVoter* voters, PatchState* moved) {
  const Pixel pixel = thread_pixel();
  if (!args.states.contains(pixel.x, pixel.y)) return;
  moved[index_of(args.states, pixel.x, pixel.y)] =
      edge_state(args.states, pixel.x, pixel.y, args.range, args.pass, args.reference,
                 [&](int i, int j) { return voters[j * args.states.width + i]; });
}

dim3 grid_of(int width, int height) {
  return {static_cast<unsigned>((width + kPatchBlockWidth - 1) / kPatchBlockWidth),
          static_cast<unsigned>((height + kPatchBlockHeight - 1) / kPatchBlockHeight)};
}
constexpr dim3 kBlock(kPatchBlockWidth, kPatchBlockHeight);

/// Calls `launch` with the radius of PixelPatch.
template <class Launch>
void with_radius(const PatchArgs& args, const Launch& launch) {
  const int radius = args.storage == SourceStorage::kQuads ? args.iteration.radius : 0;
  if (radius == 2)
    launch(std::integral_constant<int, 2>());
  else if (radius == 3)
    launch(std::integral_constant<int, 3>());
  else
    launch(std::integral_constant<int, 0>());
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void launch_first_planes(const PatchArgs& args, const float* depth, std::ptrdiff_t pitch,
                         cudaStream_t stream) {
  first_plane_kernel<<<grid_of(args.states.width, args.states.height), kBlock, 0, stream>>>(args, depth,
                                                                                            pitch);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_refine(const PatchArgs& args, cudaStream_t stream) {
  with_radius(args, [&](auto radius) {
    refine_kernel<radius()><<<grid_of(args.states.width, args.states.height), kBlock, 0, stream>>>(args);
  });
}

void launch_choose(const PatchArgs& args, int begin, int end, cudaStream_t stream) {
  with_radius(args, [&](auto radius) {
    rate_kernel<radius()><<<grid_of(args.states.width, args.rows), kBlock, 0, stream>>>(args);
  });
  choose_kernel<<<grid_of(args.states.width, end - begin), kBlock, 0, stream>>>(args, begin, end);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_improve(const PatchArgs& args, int colour, cudaStream_t stream) {
  with_radius(args, [&](auto radius) {
    improve_kernel<radius()>
        <<<grid_of((args.states.width + 1) / 2, args.states.height), kBlock, 0, stream>>>(args, colour);
  });
}

void launch_smooth(const PatchArgs& args, PatchState* smooth, cudaStream_t stream) {
  agree_kernel<<<grid_of(args.states.width, args.states.height), kBlock, 0, stream>>>(args, smooth);
  RECON_CUDA_TRY(cudaGetLastError());
  with_radius(args, [&](auto radius) {
    smooth_kernel<radius()>
        <<<grid_of(args.states.width, args.states.height), kBlock, 0, stream>>>(args, smooth);
  });
}

void launch_patch_depths(const PatchStates& states, float* const (&results)[3], cudaStream_t stream) {
  depth_kernel<<<grid_of(states.width, states.height), kBlock, 0, stream>>>(states, results[0], results[1],
                                                                            results[2]);
  RECON_CUDA_TRY(cudaGetLastError());
}

void launch_edges(const PatchArgs& args, int pass, const Rgb8* colours, EdgeVoter* voters, PatchState* moved,
                  cudaStream_t stream) {
  const dim3 grid = grid_of(args.states.width, args.states.height);
  const EdgeArgs edges{args.states,
                       args.iteration.range,
                       edge_pass(pass),
                       {args.reference, args.reference_pitch, colours, args.states.width}};
  voter_kernel<<<grid, kBlock, 0, stream>>>(args.states, edges.pass.margin, voters);
  edge_kernel<<<grid, kBlock, 0, stream>>>(edges, voters, moved);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
