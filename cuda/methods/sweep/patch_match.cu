#include "cuda/device/error.hpp"
#include "cuda/match/sampling.cuh"
#include "cuda/methods/sweep/patch_match.hpp"
#include "methods/sweep/depth_step.hpp"
#include "optimize/patch_match/edge_planes_step.hpp"
#include "optimize/patch_match/smooth_planes_step.hpp"

namespace recon::cuda {
namespace {

constexpr int kBlockWidth = 16, kBlockHeight = 8;

/// The patch of a pixel, compared with the sources. `R` is its radius, if the sources are quads: its samples
/// then stay in registers. 0: any radius and storage, which decide at run time.
template <int R>
class PixelPatch {
 public:
  __device__ PixelPatch(const PatchArgs& args, int x, int y) : args_(args), x_(x), y_(y) {
    centre_ = reference(x, y);
    for_samples([&](int k, int dx, int dy) {
      const int px = x + dx, py = y + dy;
      const bool inside = px >= 0 && py >= 0 && px < args.states.width && py < args.states.height;
      const int r = inside ? reference(px, py) - centre_ : 0;
      const int w = inside ? __ldg(args.weights + k * 256 + abs(r)) : 0;
      weight_and_value_[k] = w << 16 | (r & 0xFFFF);
      sums_.weight += w, sums_.r += w * r, sums_.rr += w * r * r;
    });
  }

  /// The cost in one source; negative where the patch is not visible.
  __device__ float visible_cost(std::uint32_t s, const SlantedPlane& plane) const {
    const DeviceSource& source = args_.source[s];
    const PatchWarp warp = patch_warp(source.warp, x_, y_, plane, radius(), source.width, source.height);
    return warp.visible ? patch_cost(sums_, sums_with(source, warp)) : -1.0f;
  }

  /// The mean cost over the sources of the pixel; see mean_cost.
  __device__ float cost(PatchSources sources, const SlantedPlane& plane, float bound) const {
    return mean_cost(sources, bound, [&](std::uint32_t s) {
      const float cost = visible_cost(s, plane);
      return cost < 0.0f ? kInvisibleCost : cost;
    });
  }

  __device__ const ReferenceSums& sums() const { return sums_; }

 private:
  static constexpr int kSamples = patch_samples(R > 0 ? R : kMaxPatchRadius);

  __device__ int radius() const { return R > 0 ? R : args_.iteration.radius; }

  /// Calls `visit(k, dx, dy)` for sample k, at that offset.
  template <class Visit>
  __device__ __forceinline__ void for_samples(const Visit& visit) const {
    if constexpr (R > 0) {
#pragma unroll
      for (int k = 0; k < kSamples; ++k) visit(k, k % (2 * R + 1) - R, k / (2 * R + 1) - R);
    } else {
      int k = 0;
#pragma unroll 1
      for (int dy = -radius(); dy <= radius(); ++dy)
#pragma unroll 1
        for (int dx = -radius(); dx <= radius(); ++dx) visit(k++, dx, dy);
    }
  }

  __device__ int reference(int x, int y) const {
    return __ldg(args_.reference + static_cast<std::ptrdiff_t>(y) * args_.reference_pitch + x);
  }

  __device__ PatchSums sums_with(const DeviceSource& source, const PatchWarp& warp) const {
    PatchSums sums;
    for_samples([&](int k, int dx, int dy) {
      const int u = sample_position(warp.u, dx, dy, warp.ux, warp.uy);
      const int v = sample_position(warp.v, dx, dy, warp.vx, warp.vy);
      const int column = u >> kSubpixelBits, row = v >> kSubpixelBits;
      std::uint32_t quad;
      if (R > 0 || args_.storage == SourceStorage::kQuads)
        quad = __ldg(static_cast<const std::uint32_t*>(source.channel[0]) + (row * source.pitch + column));
      else
        quad = quad_of_bytes(source, 0, column, row);
      const std::uint32_t sample = shifted_bilinear(quad, u & 255, v & 255, 8192u) >> 14;
      add_sample(sums, weight_and_value_[k] >> 16, static_cast<std::int16_t>(weight_and_value_[k]),
                 static_cast<std::int32_t>(sample) - 4 * centre_);
    });
    return sums;
  }

  const PatchArgs& args_;
  int x_, y_;
  int centre_;
  ReferenceSums sums_;
  std::int32_t weight_and_value_[kSamples];
};

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
__global__ void refine_kernel(const __grid_constant__ PatchArgs args) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, x, y);
  const PatchSources sources = args.coarse_chosen[index_of(args.coarse, min(x / 2, args.coarse.width - 1),
                                                           min(y / 2, args.coarse.height - 1))];
  args.states.at(x, y) =
      finer_state(args.coarse, x, y, args.iteration.range,
                  [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
}

template <int R>
__global__ void rate_kernel(const __grid_constant__ PatchArgs args) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, row = pixel.y;
  const int y = row + args.row_begin;
  if (row >= args.rows || !args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, x, y);
  const SlantedPlane plane = args.states.at(x, y).plane;
  std::uint8_t* out = args.costs + index_of(args.states, x, row);
  for (int s = 0; s < args.sources; ++s, out += index_of(args.states, 0, args.rows)) {
    const float cost = patch.visible_cost(s, plane);
    *out = cost < 0.0f ? kUnseen : rounded_cost(cost);
  }
}

__global__ void choose_kernel(const __grid_constant__ PatchArgs args, int begin, int end) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, row = pixel.y;
  const int y = begin + row;
  if (y >= end || !args.states.contains(x, y)) return;
  args.chosen[index_of(args.states, x, y)] =
      chosen_sources(args.sources, args.best_k, [&](int s, int dx, int dy) -> int {
        if (!args.states.contains(x + dx, y + dy)) return kUnseen;
        const std::uint8_t* costs = args.costs + s * index_of(args.states, 0, args.rows);
        return costs[index_of(args.states, x + dx, y + dy - args.row_begin)];
      });
}

template <int R>
__global__ void score_kernel(const __grid_constant__ PatchArgs args) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, x, y);
  PatchState& state = args.states.at(x, y);
  state.cost = patch.cost(args.chosen[index_of(args.states, x, y)], state.plane, kNoPatchCost);
}

template <int R>
__global__ void improve_kernel(const __grid_constant__ PatchArgs args, int colour) {
  const Pixel thread = thread_pixel();
  const int y = thread.y, x = 2 * thread.x + ((y + colour) & 1);
  if (!args.states.contains(x, y)) return;
  const PixelPatch<R> patch(args, x, y);
  const PatchSources sources = args.chosen[index_of(args.states, x, y)];
  const float w = args.states.at(x, y).plane.w;
  const float step = perturbation_step(
      sources, args.iteration.index, [&](std::uint32_t s) { return parallax(args.source[s].warp, x, y, w); });
  args.states.at(x, y) =
      improved(args.states, x, y, args.iteration, step,
               [&](const SlantedPlane& plane, float bound) { return patch.cost(sources, plane, bound); });
}

template <int R>
__global__ void smooth_kernel(const __grid_constant__ PatchArgs args, PatchState* smooth) {
  const Pixel pixel = thread_pixel();
  const int x = pixel.x, y = pixel.y;
  if (!args.states.contains(x, y)) return;
  const std::ptrdiff_t i = index_of(args.states, x, y);
  const PatchSources sources = args.chosen[i];
  const PatchState own = args.states.at(x, y);
  const float unit =
      smooth_unit(sources, [&](std::uint32_t s) { return parallax(args.source[s].warp, x, y, own.plane.w); });
  const SlantedPlane plane = agreed_plane(args.states, x, y, args.iteration.range, unit, [&](int u, int v) {
    return static_cast<int>(
        __ldg(args.reference + static_cast<std::ptrdiff_t>(v) * args.reference_pitch + u));
  });
  const PixelPatch<R> patch(args, x, y);
  smooth[i] = smoothed_state(own, plane, patch.sums(), [&](const SlantedPlane& offered, float bound) {
    return patch.cost(sources, offered, bound);
  });
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

__global__ void inside_kernel(const PatchStates states, int margin, std::uint8_t* inside) {
  const Pixel pixel = thread_pixel();
  if (!states.contains(pixel.x, pixel.y)) return;
  inside[index_of(states, pixel.x, pixel.y)] = is_inside_surface(states, pixel.x, pixel.y, margin) ? 1 : 0;
}

/// What is read where edges move.
struct EdgeArgs {
  PatchStates states;
  InverseRange range;
  EdgePass pass;
  EdgeImage reference;
};

__global__ void edge_kernel(const EdgeArgs args, const std::uint8_t* inside, PatchState* moved) {
  const Pixel pixel = thread_pixel();
  if (!args.states.contains(pixel.x, pixel.y)) return;
  moved[index_of(args.states, pixel.x, pixel.y)] =
      edge_state(args.states, pixel.x, pixel.y, args.range, args.pass, args.reference,
                 [&](int i, int j) { return inside[j * args.states.width + i] != 0; });
}

dim3 grid_of(int width, int height) {
  return {static_cast<unsigned>((width + kBlockWidth - 1) / kBlockWidth),
          static_cast<unsigned>((height + kBlockHeight - 1) / kBlockHeight)};
}
constexpr dim3 kBlock(kBlockWidth, kBlockHeight);

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

void launch_score(const PatchArgs& args, cudaStream_t stream) {
  with_radius(args, [&](auto radius) {
    score_kernel<radius()><<<grid_of(args.states.width, args.states.height), kBlock, 0, stream>>>(args);
  });
}

void launch_improve(const PatchArgs& args, int colour, cudaStream_t stream) {
  with_radius(args, [&](auto radius) {
    improve_kernel<radius()>
        <<<grid_of((args.states.width + 1) / 2, args.states.height), kBlock, 0, stream>>>(args, colour);
  });
}

void launch_smooth(const PatchArgs& args, PatchState* smooth, cudaStream_t stream) {
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

void launch_edges(const PatchArgs& args, int pass, const Rgb8* colours, std::uint8_t* inside,
                  PatchState* moved, cudaStream_t stream) {
  const dim3 grid = grid_of(args.states.width, args.states.height);
  const EdgeArgs edges{args.states,
                       args.iteration.range,
                       edge_pass(pass),
                       {args.reference, args.reference_pitch, colours, args.states.width}};
  inside_kernel<<<grid, kBlock, 0, stream>>>(args.states, edges.pass.margin, inside);
  edge_kernel<<<grid, kBlock, 0, stream>>>(edges, inside, moved);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
