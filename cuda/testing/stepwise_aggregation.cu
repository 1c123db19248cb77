#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/aggregate/plane_arms.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/memory.hpp"
#include "cuda/testing/stepwise_aggregation.hpp"

namespace recon::cuda {
namespace {

constexpr int kWarp = 32, kRows = 8;         ///< of a thread block: columns, or planes, and rows
constexpr int kEach = 4;                     ///< rows, or planes, of a thread
constexpr int kBorder = kMaxStepwiseRadius;  ///< of a tile

struct Sample {
  int x, y, d;
};

/// Thread blocks of 32 x 8: either planes and columns of a row, or columns and rows of a plane.
template <bool kAlongD>
__device__ Sample sample_of_thread() {
  const int fast = static_cast<int>(blockIdx.x * kWarp + threadIdx.x);
  const int slow = static_cast<int>(blockIdx.y * kRows + threadIdx.y), last = static_cast<int>(blockIdx.z);
  if (kAlongD) return {slow, last, fast};
  return {fast, slow, last};
}

__device__ bool inside(const DeviceVolume& volume, Sample s) {
  return s.x < volume.width && s.y < volume.height && s.d < volume.planes;
}

/// What a window in the image covers of a column or row.
struct Range {
  int begin, end;
  __device__ Range(int at, int radius, int size)
      : begin(max(at - radius, 0)), end(min(at + radius + 1, size)) {}
  __device__ int count() const { return end - begin; }
};

template <bool kAlongD>
__global__ void window_kernel(StepwiseAggregation p) {
  const Sample s = sample_of_thread<kAlongD>();
  if (!inside(p.costs, s)) return;
  const Range columns(s.x, p.radius, p.costs.width), rows(s.y, p.radius, p.costs.height);
  double sum = 0.0;
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x)
      sum += static_cast<double>(p.unit.rounded(p.costs.row(y, s.d)[x]));
  p.means.row(s.y, s.d)[s.x] = mean_of({sum, columns.count() * rows.count()});
}

/// `Each` rows a thread.
template <int Each>
__global__ void window_tile_kernel(StepwiseAggregation p) {
  constexpr int kHeight = kRows * Each;
  __shared__ float tile[kHeight + 2 * kBorder][kWarp + 2 * kBorder];
  const int first_x = static_cast<int>(blockIdx.x) * kWarp, first_y = static_cast<int>(blockIdx.y) * kHeight,
            d = static_cast<int>(blockIdx.z), r = p.radius;
  for (int j = static_cast<int>(threadIdx.y); j < kHeight + 2 * r; j += kRows)
    for (int i = static_cast<int>(threadIdx.x); i < kWarp + 2 * r; i += kWarp) {
      const int x = first_x + i - r, y = first_y + j - r;
      const bool there = x >= 0 && x < p.costs.width && y >= 0 && y < p.costs.height;
      tile[j][i] = there ? p.unit.rounded(p.costs.row(y, d)[x]) : 0.0f;
    }
  __syncthreads();
  const int x = first_x + static_cast<int>(threadIdx.x), top = Each * static_cast<int>(threadIdx.y);
  double sums[Each] = {};
  for (int j = 0; j < 2 * r + Each; ++j) {
    double row = 0.0;
    for (int i = 0; i <= 2 * r; ++i) row += static_cast<double>(tile[top + j][threadIdx.x + i]);
#pragma unroll
    for (int k = 0; k < Each; ++k)
      if (j >= k && j <= k + 2 * r) sums[k] += row;
  }
  const Range columns(x, r, p.costs.width);
#pragma unroll
  for (int k = 0; k < Each; ++k) {
    const int y = first_y + top + k;
    if (x < p.costs.width && y < p.costs.height)
      p.means.row(y, d)[x] = mean_of({sums[k], columns.count() * Range(y, r, p.costs.height).count()});
  }
}

/// The colours as the weights take them, rows without padding.
struct Labs {
  Lab *reference, *source;
};

__global__ void lab_kernel(ColourImages images, int width, Labs labs) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= width) return;
  labs.reference[y * width + x] = to_lab(images.reference[y * images.pitch + x]);
  if (images.source != nullptr) labs.source[y * width + x] = to_lab(images.source[y * images.pitch + x]);
}

/// The weight of the source's pixels; 1 where p has no match or there is no source, 0 where q alone has none.
__device__ float source_weight(const StepwiseAggregation& p, const Labs& labs, Sample s, int i, int j) {
  const int match = matching_column(p.colours.side, s.x, p.colours.min_disparity + s.d),
            width = p.costs.width;
  if (p.colours.source == nullptr || match < 0 || match >= width) return 1.0f;
  if (match + i < 0 || match + i >= width) return 0.0f;
  return support_weight(labs.source[s.y * width + match], labs.source[(s.y + j) * width + match + i], i, j,
                        p.weights);
}

template <bool kAlongD>
__global__ void weight_kernel(StepwiseAggregation p, Labs labs) {
  const Sample s = sample_of_thread<kAlongD>();
  if (!inside(p.costs, s)) return;
  const int width = p.costs.width;
  const Range columns(s.x, p.radius, width), rows(s.y, p.radius, p.costs.height);
  float sum = 0.0f, total = 0.0f;
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const int i = x - s.x, j = y - s.y;
      const float w =
          support_weight(labs.reference[s.y * width + s.x], labs.reference[y * width + x], i, j, p.weights) *
          source_weight(p, labs, s, i, j);
      sum += w * p.costs.row(y, s.d)[x], total += w;
    }
  p.means.row(s.y, s.d)[s.x] = sum / total;
}

/// `Each` planes a thread.
template <int Each>
__global__ void weight_tile_kernel(StepwiseAggregation p, Labs labs) {
  __shared__ Lab tile[kRows + 2 * kBorder][kWarp + 2 * kBorder];
  const int first_x = static_cast<int>(blockIdx.x) * kWarp, first_y = static_cast<int>(blockIdx.y) * kRows;
  const int r = p.radius, width = p.costs.width, height = p.costs.height;
  for (int j = static_cast<int>(threadIdx.y); j < kRows + 2 * r; j += kRows)
    for (int i = static_cast<int>(threadIdx.x); i < kWarp + 2 * r; i += kWarp) {
      const int x = min(max(first_x + i - r, 0), width - 1), y = min(max(first_y + j - r, 0), height - 1);
      tile[j][i] = labs.reference[y * width + x];
    }
  __syncthreads();
  const Sample s{first_x + static_cast<int>(threadIdx.x), first_y + static_cast<int>(threadIdx.y),
                 static_cast<int>(blockIdx.z) * Each};
  if (!inside(p.costs, s)) return;
  const Range columns(s.x, r, width), rows(s.y, r, height);
  const Lab centre = tile[threadIdx.y + r][threadIdx.x + r];
  float sum[Each] = {}, total[Each] = {};
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const int i = x - s.x, j = y - s.y;
      const float here = support_weight(centre, tile[y - first_y + r][x - first_x + r], i, j, p.weights);
#pragma unroll
      for (int k = 0; k < Each; ++k) {
        if (s.d + k >= p.costs.planes) break;
        const float w = here * source_weight(p, labs, {s.x, s.y, s.d + k}, i, j);
        sum[k] += w * p.costs.row(y, s.d + k)[x], total[k] += w;
      }
    }
#pragma unroll
  for (int k = 0; k < Each; ++k)
    if (s.d + k < p.costs.planes) p.means.row(s.y, s.d + k)[s.x] = sum[k] / total[k];
}

/// Prefix sums, and sums along arms, of all planes: row y + 1 of a plane holds what comes of row y.
struct CrossSums {
  double *prefix, *sums;
  int *count_prefix, *counts;
  int pitch, rows;

  __device__ std::ptrdiff_t at(int x, int y, int d) const {
    return (static_cast<std::ptrdiff_t>(d) * rows + y) * pitch + x;
  }
};

/// A thread a row: prefix sums of the costs, then sums along the horizontal arms.
__device__ void add_row(const StepwiseAggregation& p, const CrossSums& c, int y, int d) {
  const RowArms arms(p.arms, p.costs.width, y, d);
  const float* costs = p.costs.row(y, d);
  double* prefix = c.prefix + c.at(0, y + 1, d);
  prefix[0] = 0.0;
  for (int x = 0; x < p.costs.width; ++x)
    prefix[x + 1] = prefix[x] + static_cast<double>(p.unit.rounded(costs[x]));
  for (int x = 0; x < p.costs.width; ++x) {
    const ArmWords a = arms(x);
    c.sums[c.at(x, y + 1, d)] = prefix[x + a.right() + 1] - prefix[x - a.left()];
    c.counts[c.at(x, y + 1, d)] = a.left() + a.right() + 1;
  }
}

/// A thread a column: prefix sums of the sums, then means along the vertical arms.
__device__ void add_column(const StepwiseAggregation& p, const CrossSums& c, int x, int d) {
  double sum = 0.0;
  int count = 0;
  c.prefix[c.at(x, 0, d)] = 0.0, c.count_prefix[c.at(x, 0, d)] = 0;
  for (int y = 1; y <= p.costs.height; ++y) {
    sum += c.sums[c.at(x, y, d)], count += c.counts[c.at(x, y, d)];
    c.prefix[c.at(x, y, d)] = sum, c.count_prefix[c.at(x, y, d)] = count;
  }
  for (int y = 0; y < p.costs.height; ++y) {
    const ArmWords a = RowArms(p.arms, p.costs.width, y, d)(x);
    const std::ptrdiff_t begin = c.at(x, y - a.up(), d), end = c.at(x, y + a.down() + 1, d);
    p.means.row(y, d)[x] =
        mean_of({c.prefix[end] - c.prefix[begin], c.count_prefix[end] - c.count_prefix[begin]});
  }
}

/// A thread a line, of all planes or of plane blockIdx.y.
template <bool kAllPlanes, bool kColumns>
__global__ void cross_kernel(StepwiseAggregation p, CrossSums c) {
  const int line = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (line >= (kColumns ? p.costs.width : p.costs.height)) return;
  const int first = kAllPlanes ? 0 : static_cast<int>(blockIdx.y),
            end = kAllPlanes ? p.costs.planes : first + 1;
  for (int d = first; d < end; ++d) kColumns ? add_column(p, c, line, d) : add_row(p, c, line, d);
}

unsigned parts(int size, int each) {
  return static_cast<unsigned>((size + each - 1) / each);
}

std::size_t lab_bytes(const DeviceVolume& volume) {
  return arena_bytes(element_count({volume.width, volume.height, sizeof(Lab)}));
}

CrossSums cross_sums(const DeviceVolume& volume, std::byte* scratch) {
  CrossSums sums{};
  sums.pitch = static_cast<int>(padded_count<double>(volume.width + 1));
  sums.rows = volume.height + 1;
  const std::size_t elements = element_count({sums.pitch, sums.rows, volume.planes});
  auto take = [&, used = std::size_t{0}](std::size_t bytes) mutable {
    used += arena_bytes(bytes);
    return scratch + used - arena_bytes(bytes);
  };
  sums.prefix = reinterpret_cast<double*>(take(elements * sizeof(double)));
  sums.sums = reinterpret_cast<double*>(take(elements * sizeof(double)));
  sums.count_prefix = reinterpret_cast<int*>(take(elements * sizeof(int)));
  sums.counts = reinterpret_cast<int*>(take(elements * sizeof(int)));
  return sums;
}

template <bool kAllPlanes>
void queue_crosses(const StepwiseAggregation& p, std::byte* scratch, cudaStream_t stream) {
  constexpr int kThreads = 64;
  const CrossSums sums = cross_sums(p.costs, scratch);
  const unsigned planes = kAllPlanes ? 1 : static_cast<unsigned>(p.costs.planes);
  cross_kernel<kAllPlanes, false>
      <<<dim3(parts(p.costs.height, kThreads), planes), kThreads, 0, stream>>>(p, sums);
  cross_kernel<kAllPlanes, true>
      <<<dim3(parts(p.costs.width, kThreads), planes), kThreads, 0, stream>>>(p, sums);
}

}  // namespace

std::size_t stepwise_aggregation_bytes(const StepwiseAggregation& problem) {
  const DeviceVolume& v = problem.costs;
  const std::size_t elements =
      element_count({padded_count<double>(v.width + 1), std::ptrdiff_t{v.height} + 1, v.planes});
  const std::size_t crosses =
      2 * arena_bytes(elements * sizeof(double)) + 2 * arena_bytes(elements * sizeof(int));
  return crosses + cross_by_sums_bytes(v.width, v.planes, v.height) + 2 * lab_bytes(v);
}

void queue_stepwise_aggregation(const StepwiseAggregation& p, std::byte* scratch, cudaStream_t stream) {
  EXPECTS(p.radius >= 0 && p.radius <= kMaxStepwiseRadius);
  const int width = p.costs.width, height = p.costs.height, planes = p.costs.planes;
  if (p.costs.empty()) return;
  const dim3 block(kWarp, kRows);
  const dim3 along_d(parts(planes, kWarp), parts(width, kRows), static_cast<unsigned>(height));
  const dim3 along_x(parts(width, kWarp), parts(height, kRows), static_cast<unsigned>(planes));
  const Labs labs{reinterpret_cast<Lab*>(scratch), reinterpret_cast<Lab*>(scratch + lab_bytes(p.costs))};
  if (p.step >= Stepwise::kWeightAlongD && p.step <= Stepwise::kWeightUnrolled)
    lab_kernel<<<dim3(parts(width, 128), static_cast<unsigned>(height)), 128, 0, stream>>>(p.colours, width,
                                                                                           labs);
  switch (p.step) {
    case Stepwise::kWindowAlongD:
      window_kernel<true><<<along_d, block, 0, stream>>>(p);
      break;
    case Stepwise::kWindowAlongX:
      window_kernel<false><<<along_x, block, 0, stream>>>(p);
      break;
    case Stepwise::kWindowShared:
      window_tile_kernel<1><<<along_x, block, 0, stream>>>(p);
      break;
    case Stepwise::kWindowUnrolled: {
      const dim3 tiles(along_x.x, parts(height, kRows * kEach), along_x.z);
      window_tile_kernel<kEach><<<tiles, block, 0, stream>>>(p);
      break;
    }
    case Stepwise::kWeightAlongD:
      weight_kernel<true><<<along_d, block, 0, stream>>>(p, labs);
      break;
    case Stepwise::kWeightAlongX:
      weight_kernel<false><<<along_x, block, 0, stream>>>(p, labs);
      break;
    case Stepwise::kWeightShared:
      weight_tile_kernel<1><<<along_x, block, 0, stream>>>(p, labs);
      break;
    case Stepwise::kWeightUnrolled: {
      const dim3 tiles(along_x.x, along_x.y, parts(planes, kEach));
      weight_tile_kernel<kEach><<<tiles, block, 0, stream>>>(p, labs);
      break;
    }
    case Stepwise::kCrossSerial:
      queue_crosses<true>(p, scratch, stream);
      break;
    case Stepwise::kCrossPlanes:
      queue_crosses<false>(p, scratch, stream);
      break;
    case Stepwise::kCrossCoalesced:
      queue_cross_by_sums({p.arms, CrossOrder::kHorizontal, p.costs, p.means, p.unit}, scratch, stream);
      break;
  }
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
