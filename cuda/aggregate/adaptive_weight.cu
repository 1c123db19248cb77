#include <algorithm>

#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/weight_window.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/shared_memory.hpp"

/// Sums of adaptive weights: a thread accumulates eight columns of four planes, whose matches are eleven
/// columns of the source. weight_window.cuh computes the weights and defines the shared-memory layout.

namespace recon::cuda {
namespace {

constexpr int kAcross = 8, kDeep = 4;  ///< columns and planes per thread

/// Position of a thread in the tile. Neighbouring threads take the same columns of other planes, so the lanes
/// of a warp read few distinct weights.
template <class Tile>
struct Place {
  int column, slot;

  __device__ Place() {
    const int thread = thread_number();
    column = thread / Tile::kPlaneQuads * kAcross, slot = thread % Tile::kPlaneQuads * kDeep;
  }
};

/// The accumulators of a thread.
template <class Tile>
class WeightSums {
 public:
  float sum[kDeep][kAcross] = {}, total[kDeep][kAcross] = {};  ///< by slot and column

  /// Accumulates `count` offsets of the window.
  template <bool kGaps>
  __device__ __forceinline__ void add(const float* weights, const float* costs, Place<Tile> at, int count) {
    here_ = weights + at.column;
    there_ = weights + Tile::kMatch - (kDeep - 1) + at.column - at.slot;
    costs_ = costs + at.column * Tile::kCostPitch + at.slot;
#pragma unroll
    for (int a = 0; a < kAcross; ++a) load_four(costs_ + a * Tile::kCostPitch, cost_[a]);
    costs_ += kAcross * Tile::kCostPitch;
#pragma unroll 1
    for (; count >= 8; count -= 8) add_some<kGaps, 0, 4>(4), add_some<kGaps, 4, 4>(4);
    if (count >= 4) {
      add_some<kGaps, 0, 4>(4);
      add_some<kGaps, 4, 3>(count - 4);
    } else {
      add_some<kGaps, 0, 3>(count);
    }
  }

 private:
  /// Accumulates `count` offsets: four or, if kMost is 3, fewer. The costs of eight columns are in a register
  /// ring; `kTurn` is the index of the first.
  template <bool kGaps, int kTurn, int kMost>
  __device__ __forceinline__ void add_some(int count) {
#pragma unroll
    for (int o = 0; o < kMost; ++o) {
      if (kMost < 4 && o >= count) return;
      float here[kAcross], there[kAcross + kDeep];
      load_four(here_ + o * Tile::kBoth, here), load_four(here_ + o * Tile::kBoth + 4, here + 4);
#pragma unroll
      for (int i = 0; i < kAcross + kDeep; i += 4) load_four(there_ + o * Tile::kBoth + i, there + i);
#pragma unroll
      for (int a = 0; a < kAcross; ++a)
#pragma unroll
        for (int k = 0; k < kDeep; ++k) {
          const float w = here[a] * there[kDeep - 1 + a - k], c = cost_[(kTurn + o + a) % kAcross][k];
          if (kGaps && !is_cost(c)) continue;
          sum[k][a] = __fmaf_rn(w, c, sum[k][a]);
          total[k][a] += w;
        }
      load_four(costs_ + o * Tile::kCostPitch, cost_[(kTurn + o) % kAcross]);
    }
    here_ += 4 * Tile::kBoth, there_ += 4 * Tile::kBoth, costs_ += 4 * Tile::kCostPitch;
  }

  const float *here_, *there_, *costs_;
  float cost_[kAcross][kDeep];
};

/// Rows in order from the middle of the image outwards: the last thread blocks have the least work.
__device__ __forceinline__ int row_of_block(int height) {
  const int i = static_cast<int>(blockIdx.y);
  return height / 2 + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
}

template <class Tile>
__device__ void write_means(const WeightProblem& problem, const WeightWindow<Tile>& window,
                            const WeightSums<Tile>& sums) {
  const Place<Tile> at;
  const int y = window.row();
  const int x = window.first_x() + at.column;
#pragma unroll
  for (int k = 0; k < kDeep; ++k) {
    const int d = window.plane(at.slot + k);
    if (d >= problem.means.planes) continue;
#pragma unroll
    for (int a = 0; a < kAcross; ++a)
      if (x + a < problem.means.width)
        problem.means.row(y, d)[x + a] =
            sums.total[k][a] > 0.0f ? sums.sum[k][a] / sums.total[k][a] : INFINITY;
  }
}

template <class Tile, int Blocks>
__global__ void __launch_bounds__(Tile::kThreads, Blocks)
    weight_kernel(const __grid_constant__ WeightProblem problem) {
  const WeightWindow<Tile> window(problem, row_of_block(problem.costs.height));
  auto stage = window.first(), next = window.after(stage);
  window.copy_colours(stage);
  window.copy_costs(stage, 0);
  wait_for_copies();
  __syncthreads();
  if (window.exists(next) && next.offset == 0) window.copy_colours(next);
  window.make_weights(stage, 0);
  wait_for_copies();
  __syncthreads();

  WeightSums<Tile> sums;
  for (int weights = 0, costs = 0; window.exists(stage); weights ^= 1) {
    next = window.after(stage);
    if (window.exists(next)) {
      const auto last = window.after(next);
      if (window.begins_segment(next)) window.copy_costs(next, costs ^ 1);
      if (last.offset == 0 && window.exists(last)) window.copy_colours(last);
      window.make_weights(next, weights ^ 1);
    }
    const float *of_weights = window.weights(weights), *of_costs = window.costs(stage, costs);
    if (window.has_gaps(stage))
      sums.template add<true>(of_weights, of_costs, {}, window.size(stage));
    else
      sums.template add<false>(of_weights, of_costs, {}, window.size(stage));
    wait_for_copies();
    __syncthreads();
    costs ^= window.begins_segment(next) ? 1 : 0;
    stage = next;
  }
  write_means(problem, window, sums);
}

/// Colours in CIELab, three rows of floats per image row, scaled so that a weight is a power of two of the
/// distance; a border column on either side holds a colour that is far from all others.
__global__ void lab_kernel(const Rgb8* image, std::ptrdiff_t pitch, int width, float scale, float* lab,
                           std::ptrdiff_t lab_pitch) {
  constexpr float kFar = 1e36f;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) - 1, y = static_cast<int>(blockIdx.y);
  if (x > width) return;
  float* to = lab + 3 * y * lab_pitch + x + 1;
  if (x < 0 || x == width) {
    for (int c = 0; c < 3; ++c) to[c * lab_pitch] = kFar;
    return;
  }
  const Lab colour = to_lab(image[y * pitch + x]);
  to[0] = colour.l * scale, to[lab_pitch] = colour.a * scale, to[2 * lab_pitch] = colour.b * scale;
}

/// One thread block per row and tile of planes.
__global__ void gaps_kernel(DeviceVolume costs, int planes, float* gaps) {
  const int first = static_cast<int>(blockIdx.x) * planes, y = static_cast<int>(blockIdx.y);
  bool found = false;
  for (int d = first + static_cast<int>(threadIdx.y); d < min(first + planes, costs.planes);
       d += static_cast<int>(blockDim.y)) {
    const float* row = costs.row(y, d);
    for (int x = 4 * static_cast<int>(threadIdx.x); x < costs.width; x += 4 * static_cast<int>(blockDim.x)) {
      float four[4];
      load_four(row + x, four);
      for (int i = 0; i < 4; ++i) found = found || (x + i < costs.width && !is_cost(four[i]));
    }
  }
  found = __syncthreads_or(found);
  if (threadIdx.x == 0 && threadIdx.y == 0) gaps[y * gridDim.x + blockIdx.x] = found ? 1.0f : 0.0f;
}

std::ptrdiff_t lab_pitch(int width) {
  return padded_count<float>(width + 2);
}

void queue_lab(const Rgb8* image, std::ptrdiff_t pitch, int width, int height, float scale, float* lab,
               cudaStream_t stream) {
  constexpr int kThreads = 128;
  const dim3 grid(blocks_for(width + 2, kThreads), static_cast<unsigned>(height));
  lab_kernel<<<grid, kThreads, 0, stream>>>(image, pitch, width, scale, lab, lab_pitch(width));
  RECON_CUDA_TRY(cudaGetLastError());
}

/// Chosen by the number of planes and the shared memory of the device, of which each has at least what `Few`
/// takes (59 KB for the max radius).
using Few = WeightTile<4, 64, 8, 24>;
using Some = WeightTile<8, 128, 8, 24>;
using Many = WeightTile<16, 192, 12, 36>;

template <class Tile>
std::size_t shared_bytes(int radius) {
  return sizeof(float) * static_cast<std::size_t>(WeightWindow<Tile>::floats(radius));
}

template <class Tile, int Blocks>
void launch(const WeightProblem& problem, float* gaps, cudaStream_t stream) {
  const auto kernel = weight_kernel<Tile, Blocks>;
  allow_shared_memory(kernel);
  const dim3 grid(blocks_for(problem.costs.width, Tile::kColumns),
                  static_cast<unsigned>(problem.costs.height),
                  blocks_for(problem.costs.planes, Tile::kPlanes));
  gaps_kernel<<<dim3(grid.z, grid.y), dim3(32, 8), 0, stream>>>(problem.costs, Tile::kPlanes, gaps);
  RECON_CUDA_TRY(cudaGetLastError());
  kernel<<<grid, Tile::kThreads, shared_bytes<Tile>(problem.radius), stream>>>(problem);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

WeightMemory WeightMemory::take(int width, int planes, int height, Arena& arena) {
  const std::size_t lab = element_count({lab_pitch(width), 3, height});
  return {arena.take<float>(lab), arena.take<float>(lab),
          arena.take<float>(element_count({blocks_for(planes, Few::kPlanes), height}))};
}

void queue_adaptive_weight(const ColourImages& images, const AdaptiveWeightOptions& options,
                           const DeviceVolume& costs, const DeviceVolume& aggregated,
                           const WeightMemory& memory, cudaStream_t stream) {
  EXPECTS(options.radius >= 0 && options.radius <= kMaxAdaptiveRadius);
  EXPECTS(options.gamma_colour > 0.0f && options.gamma_space > 0.0f);
  EXPECTS(costs.width == aggregated.width && costs.planes == aggregated.planes &&
          costs.height == aggregated.height);
  EXPECTS(costs.data != aggregated.data || costs.data == nullptr);
  if (costs.empty()) return;
  constexpr float kLog2E = 1.44269504f, kMaxScale = 1e30f;
  const float scale = std::min(kLog2E / options.gamma_colour, kMaxScale);
  queue_lab(images.reference, images.pitch, costs.width, costs.height, scale, memory.reference, stream);
  if (images.source != nullptr)
    queue_lab(images.source, images.pitch, costs.width, costs.height, scale, memory.source, stream);
  const WeightProblem problem{costs,
                              aggregated,
                              memory.reference,
                              images.source != nullptr ? memory.source : nullptr,
                              lab_pitch(costs.width),
                              memory.gaps,
                              kLog2E / options.gamma_space,
                              options.radius,
                              images.side,
                              images.min_disparity};
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const auto fits = [&](std::size_t bytes) { return bytes <= static_cast<std::size_t>(most); };
  if (costs.planes <= 16 || !fits(shared_bytes<Some>(options.radius)))
    launch<Few, 4>(problem, memory.gaps, stream);
  else if (costs.planes <= 32 || !fits(shared_bytes<Many>(options.radius)))
    launch<Some, 3>(problem, memory.gaps, stream);
  else
    launch<Many, 2>(problem, memory.gaps, stream);
}

}  // namespace recon::cuda
