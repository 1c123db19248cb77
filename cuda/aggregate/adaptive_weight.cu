#include "cuda/aggregate/adaptive_weight.hpp"
#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/device/shared_memory.hpp"

/// A thread block makes the means of a tile of columns and planes of one row. For each row of the window it
/// puts into shared memory the costs of the tile and the weights of all offsets along the row: those of the
/// reference by column, those of the source by the column of the match. A thread sums up four columns of four
/// planes; their matches are seven columns of the source.

namespace recon::cuda {
namespace {

constexpr int kEach = 4;  ///< columns, and planes, of a thread; offsets at once

struct WeightProblem {
  DeviceVolume costs, means;
  const float4 *reference, *source;  ///< CIELab, rows of the volume's width; source may be null
  float per_colour, per_pixel;       ///< log2(e) / gamma
  int radius, groups;                ///< offsets along a row in groups of four
  PairSide side;
  int min_disparity;
};

/// 8 warps or fewer, each 8 x 4 threads.
template <int WarpColumns, int WarpPlanes>
struct Tile {
  static constexpr int kColumns = WarpColumns * 8 * kEach;
  static constexpr int kPlanes = WarpPlanes * 4 * kEach;
  static constexpr int kMatches = kColumns + kPlanes;
  static constexpr int kThreads = WarpColumns * WarpPlanes * 32;
};

__device__ __forceinline__ float fast_root(float value) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root;
}
__device__ __forceinline__ float fast_power_of_two(float value) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
  return power;
}

/// support_weight, of the distance in pixels in powers of two.
__device__ __forceinline__ float weight_of(const float4& p, const float4& q, float per_colour, float far) {
  const float l = p.x - q.x, a = p.y - q.y, b = p.z - q.z;
  const float colour = fast_root(__fmaf_rn(l, l, __fmaf_rn(a, a, b * b)));
  return fast_power_of_two(-__fmaf_rn(colour, per_colour, far));
}

__global__ void lab_kernel(const Rgb8* image, std::ptrdiff_t pitch, int width, float4* lab) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  const Lab colour = to_lab(image[y * pitch + x]);
  lab[static_cast<std::ptrdiff_t>(y) * width + x] = make_float4(colour.l, colour.a, colour.b, 0.0f);
}

/// The shared memory of a thread block.
template <class Shape>
class WindowRow {
 public:
  __device__ WindowRow(const WeightProblem& problem, float* memory)
      : problem_(problem),
        offsets_(kEach * problem.groups),
        pitch_(Shape::kColumns + offsets_),
        weights_(memory),
        source_weights_(weights_ + offsets_ * Shape::kColumns),
        costs_(source_weights_ + offsets_ * Shape::kMatches),
        first_x_(static_cast<int>(blockIdx.x) * Shape::kColumns),
        y_(static_cast<int>(blockIdx.y)),
        first_d_(static_cast<int>(blockIdx.z) * Shape::kPlanes) {
    const bool left = problem.side == PairSide::kLeft;
    const int shift = matching_column(problem.side, 0, problem.min_disparity + first_d_);
    first_match_ = first_x_ + shift - (left ? Shape::kPlanes : 0);
    fill_ones();
  }

  __device__ const float* weights(int offset, int column) const {
    return weights_ + offset * Shape::kColumns + column;
  }
  __device__ const float* source_weights(int offset, int match) const {
    return source_weights_ + offset * Shape::kMatches + match;
  }
  __device__ const float* costs(int plane, int column) const { return costs_ + plane * pitch_ + column; }

  /// Of row y + j; returns whether the thread found a sample without a cost. `far` holds the lengths of all
  /// offsets: weight 0 of those beyond the radius must not meet a source's that is no number.
  __device__ bool fill(int j, const float* far) {
    const int width = problem_.costs.width;
    const auto row_of = [&](const float4* image, int y) {
      return image + static_cast<std::ptrdiff_t>(y) * width;
    };
    const float4 *row = row_of(problem_.reference, y_), *other = row_of(problem_.reference, y_ + j);
    for_each_pair<Shape::kColumns>([&](int column, int offset) {
      const int x = first_x_ + column, q = x + offset - problem_.radius;
      const bool counts = offset <= 2 * problem_.radius && x < width && inside(q);
      float weight = 0.0f;
      if (counts) weight = weight_of(__ldg(row + x), __ldg(other + q), problem_.per_colour, far[offset]);
      weights_[offset * Shape::kColumns + column] = weight;
    });
    if (problem_.source != nullptr) {
      row = row_of(problem_.source, y_), other = row_of(problem_.source, y_ + j);
      for_each_pair<Shape::kMatches>([&](int column, int offset) {
        const int x = first_match_ + column, q = x + offset - problem_.radius;
        if (!inside(x)) return;
        float weight = 0.0f;
        if (inside(q)) weight = weight_of(__ldg(row + x), __ldg(other + q), problem_.per_colour, far[offset]);
        source_weights_[offset * Shape::kMatches + column] = weight;
      });
    }
    return fill_costs(j);
  }

 private:
  __device__ bool inside(int x) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(problem_.costs.width);
  }

  /// Calls put(column, offset) with all pairs, spread over the threads.
  template <int Columns, class Put>
  __device__ __forceinline__ void for_each_pair(const Put& put) const {
    const int thread = static_cast<int>(threadIdx.x);
    for (int column = thread % Columns, offset = thread / Columns; offset < offsets_;) {
      put(column, offset);
      column += Shape::kThreads % Columns, offset += Shape::kThreads / Columns;
      if (column >= Columns) column -= Columns, ++offset;
    }
  }

  /// A warp reads a plane's row.
  __device__ bool fill_costs(int j) {
    const DeviceVolume& volume = problem_.costs;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    bool gaps = false;
    for (int plane = warp; plane < Shape::kPlanes; plane += Shape::kThreads / 32) {
      const int d = first_d_ + plane, first = first_x_ - problem_.radius;
      const float* from = volume.row(y_ + j, min(d, volume.planes - 1)) + first;
#pragma unroll 4
      for (int column = lane; column < pitch_; column += 32) {
        float cost = 0.0f;
        if (d < volume.planes && inside(first + column)) cost = __ldg(from + column);
        gaps = gaps || !is_cost(cost);
        costs_[plane * pitch_ + column] = cost;
      }
    }
    return gaps;
  }

  /// Where a pixel has no match, the reference's weights are all there are.
  __device__ void fill_ones() {
    for (int i = static_cast<int>(threadIdx.x); i < offsets_ * Shape::kMatches; i += Shape::kThreads)
      source_weights_[i] = 1.0f;
  }

  const WeightProblem& problem_;
  int offsets_, pitch_;
  float *weights_, *source_weights_, *costs_;
  int first_x_, y_, first_d_, first_match_;
};

/// Sums of a thread.
template <class Shape>
struct WeightSums {
  float sum[kEach][kEach] = {}, total[kEach][kEach] = {};  ///< by plane and column

  template <bool kGaps>
  __device__ __forceinline__ void add_row(const WindowRow<Shape>& row, int groups, int column, int plane,
                                          bool left) {
    const int match = left ? column - plane + Shape::kPlanes - kEach : column + plane;
    float cost[kEach][2 * kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) load(row.costs(plane + k, column), cost[k]);
    for (int g = 0; g < groups; ++g) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) load(row.costs(plane + k, column + kEach * g + kEach), cost[k] + kEach);
#pragma unroll
      for (int o = 0; o < kEach; ++o) {
        float here[kEach], there[2 * kEach];
        load(row.weights(kEach * g + o, column), here);
        load(row.source_weights(kEach * g + o, match), there);
        load(row.source_weights(kEach * g + o, match) + kEach, there + kEach);
        left ? add<kGaps, true>(here, there, cost, o) : add<kGaps, false>(here, there, cost, o);
      }
#pragma unroll
      for (int k = 0; k < kEach; ++k)
#pragma unroll
        for (int a = 0; a < kEach; ++a) cost[k][a] = cost[k][a + kEach];
    }
  }

 private:
  static __device__ __forceinline__ void load(const float* from, float* to) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }

  template <bool kGaps, bool kLeft>
  __device__ __forceinline__ void add(const float (&here)[kEach], const float (&there)[2 * kEach],
                                      const float (&cost)[kEach][2 * kEach], int o) {
#pragma unroll
    for (int k = 0; k < kEach; ++k)
#pragma unroll
      for (int a = 0; a < kEach; ++a) {
        float w = here[a] * there[kLeft ? kEach + a - k : a + k], c = cost[k][a + o];
        if (kGaps && !is_cost(c)) w = 0.0f, c = 0.0f;
        sum[k][a] = __fmaf_rn(w, c, sum[k][a]);
        total[k][a] += w;
      }
  }
};

template <int WarpColumns, int WarpPlanes>
__global__ void __launch_bounds__(Tile<WarpColumns, WarpPlanes>::kThreads,
                                  512 / Tile<WarpColumns, WarpPlanes>::kThreads)
    weight_kernel(const __grid_constant__ WeightProblem problem) {
  using Shape = Tile<WarpColumns, WarpPlanes>;
  extern __shared__ float4 weight_memory[];
  WindowRow<Shape> row(problem, reinterpret_cast<float*>(weight_memory));
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int column = (warp % WarpColumns * 8 + lane % 8) * kEach;
  const int plane = (warp / WarpColumns * 4 + lane / 8) * kEach;
  const int y = static_cast<int>(blockIdx.y), r = problem.radius;
  const bool left = problem.side == PairSide::kLeft;
  __shared__ float far[2 * kMaxAdaptiveRadius + 2 * kEach];
  WeightSums<Shape> sums;
  for (int j = max(-r, -y); j <= min(r, problem.costs.height - 1 - y); ++j) {
    __syncthreads();
    for (int o = static_cast<int>(threadIdx.x); o < kEach * problem.groups; o += Shape::kThreads)
      far[o] = fast_root(static_cast<float>((o - r) * (o - r) + j * j)) * problem.per_pixel;
    __syncthreads();
    const bool gaps = row.fill(j, far);
    if (__syncthreads_or(gaps))
      left ? sums.template add_row<true>(row, problem.groups, column, plane, true)
           : sums.template add_row<true>(row, problem.groups, column, plane, false);
    else
      left ? sums.template add_row<false>(row, problem.groups, column, plane, true)
           : sums.template add_row<false>(row, problem.groups, column, plane, false);
  }
  const int x = static_cast<int>(blockIdx.x) * Shape::kColumns + column;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int d = static_cast<int>(blockIdx.z) * Shape::kPlanes + plane + k;
    if (d >= problem.means.planes) continue;
#pragma unroll
    for (int a = 0; a < kEach; ++a)
      if (x + a < problem.means.width)
        problem.means.row(y, d)[x + a] =
            sums.total[k][a] > 0.0f ? sums.sum[k][a] / sums.total[k][a] : INFINITY;
  }
}

template <int WarpColumns, int WarpPlanes>
void launch(const WeightProblem& problem, cudaStream_t stream) {
  using Shape = Tile<WarpColumns, WarpPlanes>;
  const int offsets = kEach * problem.groups;
  const std::size_t bytes =
      sizeof(float) * static_cast<std::size_t>(offsets * (Shape::kColumns + Shape::kMatches) +
                                               Shape::kPlanes * (Shape::kColumns + offsets));
  const auto kernel = weight_kernel<WarpColumns, WarpPlanes>;
  allow_shared_memory(kernel);
  const auto parts = [](int size, int each) { return static_cast<unsigned>((size + each - 1) / each); };
  const dim3 grid(parts(problem.costs.width, Shape::kColumns), static_cast<unsigned>(problem.costs.height),
                  parts(problem.costs.planes, Shape::kPlanes));
  kernel<<<grid, Shape::kThreads, bytes, stream>>>(problem);
  RECON_CUDA_TRY(cudaGetLastError());
}

void queue_lab(const Rgb8* image, std::ptrdiff_t pitch, int width, int height, float4* lab,
               cudaStream_t stream) {
  constexpr unsigned kThreads = 128;
  const dim3 grid((static_cast<unsigned>(width) + kThreads - 1) / kThreads, static_cast<unsigned>(height));
  lab_kernel<<<grid, kThreads, 0, stream>>>(image, pitch, width, lab);
  RECON_CUDA_TRY(cudaGetLastError());
}

std::size_t lab_bytes(int width, int height) {
  return arena_bytes(element_count({width, height, sizeof(float4)}));
}

}  // namespace

std::size_t adaptive_weight_bytes(int width, int height) {
  return 2 * lab_bytes(width, height);
}

void queue_adaptive_weight(const ColourImages& images, const AdaptiveWeightOptions& options,
                           const DeviceVolume& costs, const DeviceVolume& aggregated, std::byte* scratch,
                           cudaStream_t stream) {
  EXPECTS(options.radius >= 0 && options.radius <= kMaxAdaptiveRadius);
  EXPECTS(options.gamma_colour > 0.0f && options.gamma_space > 0.0f);
  EXPECTS(costs.width == aggregated.width && costs.planes == aggregated.planes &&
          costs.height == aggregated.height);
  EXPECTS(costs.data != aggregated.data || costs.data == nullptr);
  if (costs.empty()) return;
  auto* reference = reinterpret_cast<float4*>(scratch);
  auto* source = reinterpret_cast<float4*>(scratch + lab_bytes(costs.width, costs.height));
  queue_lab(images.reference, images.pitch, costs.width, costs.height, reference, stream);
  if (images.source != nullptr)
    queue_lab(images.source, images.pitch, costs.width, costs.height, source, stream);
  constexpr float kLog2E = 1.44269504f;
  const WeightProblem problem{costs,
                              aggregated,
                              reference,
                              images.source != nullptr ? source : nullptr,
                              kLog2E / options.gamma_colour,
                              kLog2E / options.gamma_space,
                              options.radius,
                              (2 * options.radius + kEach) / kEach,
                              images.side,
                              images.min_disparity};
  if (costs.planes <= 16)
    launch<4, 1>(problem, stream);
  else if (costs.planes <= 32)
    launch<4, 2>(problem, stream);
  else
    launch<2, 4>(problem, stream);
}

}  // namespace recon::cuda
