#include <algorithm>
#include <type_traits>

#include "cuda/aggregate/column_windows.cuh"
#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/device/ptx.cuh"

/// A thread block processes a band of rows of one plane, over the full width or a part of it, a few rows per
/// step. A thread keeps the sums of four columns over the rows of the window; each step adds the entering row
/// and subtracts the leaving one. Each warp computes prefix sums of its columns in shared memory. A window
/// sum is the difference of two of them, plus the total of the warp if the window reaches into the next
/// warp's columns. So one barrier per step suffices. The kernel is bound by instructions, not by bandwidth:
/// values that are constant from row to row are computed once.

namespace recon::cuda {
namespace {

constexpr int kSegment = 32 * kColumns;            ///< columns per warp
constexpr int kMaxThreads = 128;                   ///< per thread block
constexpr int kBlocks = 4;                         ///< per multiprocessor, limited by registers
constexpr int kLine = kColumns * kMaxThreads + 2;  ///< prefix sums per row
constexpr int kNothing = kLine - 1;                ///< the index of a 0
/// The windows of a thread reach into at most one other segment; the gaps of a column fit in a byte.
constexpr int kMaxRadius = 63;
static_assert(kMaxRadius <= kMaxSquareRadius, "sums fit into 32 bits");

struct SharedLines {
  unsigned sums[2][kRows][kLine];                   ///< column c at place_of(c)
  unsigned totals[2][kRows][kMaxThreads / 32 + 1];  ///< of the warps, and a 0
  unsigned gaps[kLine];                             ///< of two rows, 16 bits each
  unsigned gap_totals[kMaxThreads / 32 + 1];
};
constexpr int kWord = sizeof(unsigned), kRowBytes = kWord * kLine,
              kTotalBytes = kWord * (kMaxThreads / 32 + 1);

/// The columns of neighbouring threads are adjacent in memory.
__device__ int place_of(int column) {
  return column % kColumns * kMaxThreads + column / kColumns;
}

/// The windows of a thread's means.
struct Windows {
  unsigned end[kColumns], begin[kColumns];  ///< addresses of the prefix sums whose difference is the sum
  unsigned crosses[kColumns];               ///< all ones if the total of a warp has to be added
  unsigned total;                           ///< its address
  int segment;
  unsigned columns = 0;  ///< per window, one byte each
  int rows = -1;
  float minus_count[kColumns], reciprocal[kColumns];  ///< of counts, in costs of one unit
  float unit, units;                                  ///< one unit, and the number of units in a cost of 1

  __device__ __forceinline__ Windows(const WindowGrid& grid, const SharedLines& lines, int x, int first_x) {
    const int read = min(static_cast<int>(blockDim.x) * kColumns, grid.costs.width - first_x);
    segment = kMaxThreads / 32;
    unit = grid.unit.unit;
    units = 1.0f / unit;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int last = min(x + i + grid.radius - first_x, read - 1);
      // Right of the image no mean is stored; the window is not empty there either: zeros take the slow path.
      const int before = min(x + i - grid.radius - 1 - first_x, last - 1);
      const bool crossing = before >= 0 && before / kSegment != last / kSegment;
      if (crossing) segment = before / kSegment;
      end[i] = kept(shared_address(&lines.sums[0][0][place_of(last)]));
      begin[i] = kept(shared_address(&lines.sums[0][0][before < 0 ? kNothing : place_of(before)]));
      crosses[i] = kept(crossing ? 0xFFFFFFFFu : 0u);
      columns |= static_cast<unsigned>(last - max(before, -1)) << 8 * i;
    }
    columns = kept(columns);
    segment = kept(segment);
    total = kept(shared_address(&lines.totals[0][0][segment]));
  }

  __device__ __forceinline__ void set_rows(int count_of_rows) {
    rows = count_of_rows;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const float count = static_cast<float>(columns >> 8 * i & 0xFFu) * static_cast<float>(rows);
      minus_count[i] = -count * units;
      reciprocal[i] = reciprocal_of_count(count) * unit;
    }
  }
};

/// Prefix sums of the gaps of both rows of a step.
__device__ __forceinline__ void add_up_gaps(SharedLines& lines, const unsigned (&gaps)[kRows]) {
  static_assert(kRows == 2);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  unsigned upto[kColumns], sum = 0;
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    upto[i] = sum += (gaps[0] >> 8 * i & 0xFFu) + ((gaps[1] >> 8 * i & 0xFFu) << 16);
  unsigned total = sum;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned before = __shfl_up_sync(0xFFFFFFFFu, total, step);
    if (lane >= step) total += before;
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i) lines.gaps[place_of(kColumns * thread + i)] = total - sum + upto[i];
  if (lane == 31) lines.gap_totals[thread / 32] = total;
  __syncthreads();
}

__device__ __forceinline__ void means_with_gaps(const SharedLines& lines, const Windows& windows, int r,
                                                const float (&sum)[kColumns], float (&mean)[kColumns]) {
  const unsigned base = shared_address(&lines.sums[0][0][0]);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    unsigned gaps =
        lines.gaps[(windows.end[i] - base) / kWord] - lines.gaps[(windows.begin[i] - base) / kWord];
    gaps += lines.gap_totals[windows.segment] & windows.crosses[i];
    const float count = -windows.minus_count[i] * windows.unit - static_cast<float>(gaps >> 16 * r & 0xFFFFu);
    mean[i] = quotient_by_count(sum[i], count, reciprocal_of_count(count)) * windows.unit;
    if (count == 0.0f) mean[i] = INFINITY;
  }
}

/// Means of row `Row` of the step whose prefix sums are in `Buffer`.
template <int Buffer, int Row>
__device__ __forceinline__ void means_of_row(const SharedLines& lines, const Windows& windows, bool with_gaps,
                                             float (&mean)[kColumns]) {
  constexpr int kOffset = (Buffer * kRows + Row) * kRowBytes;
  const unsigned total = load_word<(Buffer * kRows + Row) * kTotalBytes>(windows.total);
  float sum[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    sum[i] = static_cast<float>(load_word<kOffset>(windows.end[i]) - load_word<kOffset>(windows.begin[i]) +
                                (total & windows.crosses[i]));
  if (with_gaps) return means_with_gaps(lines, windows, Row, sum, mean);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const float guess = __fmul_rn(sum[i], windows.reciprocal[i]);
    mean[i] = __fmaf_rn(windows.reciprocal[i], __fmaf_rn(windows.minus_count[i], guess, sum[i]), guess);
  }
}

__device__ __forceinline__ void store_means(const float (&mean)[kColumns], int means, float* to) {
  if (means == kColumns) {
    __stcs(reinterpret_cast<float4*>(to), make_float4(mean[0], mean[1], mean[2], mean[3]));
    return;
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    if (i < means) to[i] = mean[i];
}

/// One step: prefix sums of the rows, then the means.
template <int Buffer>
__device__ __forceinline__ void step(const WindowGrid& grid, const Band& band, int first, int means,
                                     unsigned own, SharedLines& lines, ColumnWindows& columns,
                                     Windows& windows, float* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned upto[kRows][kColumns], total[kRows], gaps[kRows];
  columns.move(upto, gaps);
  columns.load(first + kRows);
#pragma unroll
  for (int r = 0; r < kRows; ++r) total[r] = upto[r][kColumns - 1];
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2)
#pragma unroll
    for (int r = 0; r < kRows; ++r) add_lane_before(total[r], lanes);
  const auto store = [&](auto row) {
    constexpr int kOffset = (Buffer * kRows + decltype(row)::value) * kRowBytes,
                  kQuarter = kWord * kMaxThreads;
    const auto& up = upto[decltype(row)::value];
    const unsigned sum = total[decltype(row)::value], before = sum - up[kColumns - 1];
    store_word<kOffset>(own, before + up[0]);
    store_word<kOffset + kQuarter>(own, before + up[1]);
    store_word<kOffset + 2 * kQuarter>(own, before + up[2]);
    store_word<kOffset + 3 * kQuarter>(own, sum);
    if (lane == 31) lines.totals[Buffer][decltype(row)::value][threadIdx.x / 32] = sum;
  };
  store(std::integral_constant<int, 0>{});
  store(std::integral_constant<int, 1>{});
  const bool with_gaps = __syncthreads_or(static_cast<int>(gaps[0] | gaps[1])) != 0;
  if (with_gaps) add_up_gaps(lines, gaps);
  if (means == 0) return;
  const auto finish = [&](auto row) {
    const int y = first + decltype(row)::value;
    const int rows = min(y + grid.radius, grid.costs.height - 1) - max(y - grid.radius, 0) + 1;
    if (rows != windows.rows) windows.set_rows(rows);
    float mean[kColumns];
    means_of_row<Buffer, decltype(row)::value>(lines, windows, with_gaps, mean);
    if (y < band.end) store_means(mean, means, out + decltype(row)::value * band.row_step);
  };
  finish(std::integral_constant<int, 0>{});
  finish(std::integral_constant<int, 1>{});
}

__global__ void __launch_bounds__(kMaxThreads, kBlocks)
    window_kernel(const __grid_constant__ WindowGrid grid) {
  __shared__ SharedLines lines;
  const int begin_x = static_cast<int>(blockIdx.x) * grid.columns;
  const int first_x = max(0, begin_x - grid.beyond), x = first_x + kColumns * static_cast<int>(threadIdx.x);
  const int left = min(begin_x + grid.columns, grid.costs.width) - x;
  const int means = kept(x < begin_x || left <= 0 ? 0 : min(left, kColumns));
  if (threadIdx.x < 2 * kRows) {
    lines.sums[threadIdx.x / kRows][threadIdx.x % kRows][kNothing] = 0;
    lines.totals[threadIdx.x / kRows][threadIdx.x % kRows][kMaxThreads / 32] = 0;
  }
  if (threadIdx.x == 0) lines.gaps[kNothing] = 0;
  const Band band(grid);
  ColumnWindows columns(grid, band, x);
  Windows windows(grid, lines, x, first_x);
  const unsigned own = kept(shared_address(&lines.sums[0][0][threadIdx.x]));
  float* out = band.row(grid.means, band.begin) + x;
  // The buffer of a step is written again two steps later, after a barrier that all threads reach once they
  // have read it.
  for (int first = band.begin; first < band.end; first += 2 * kRows, out += 2 * kRows * band.row_step) {
    step<0>(grid, band, first, means, own, lines, columns, windows, out);
    if (first + kRows >= band.end) break;
    step<1>(grid, band, first + kRows, means, own, lines, columns, windows, out + kRows * band.row_step);
  }
}

/// Rows per band such that all multiprocessors have work; a band reads up to 2 `radius` extra rows, each in
/// about an eighth of the time of a row of means, and waits for the first of them.
int band_rows(int height, int radius, int blocks, int at_once) {
  const int more = 1 + std::min(2 * radius, height) / 8;
  int best = 0;
  long min_time = 0;
  for (int bands = 1; bands <= 64; ++bands) {
    const int rows = rounded_up(divided_up(height, bands), kRows);
    const long all = static_cast<long>(blocks) * divided_up(height, rows);
    const long time = (all + at_once - 1) / at_once * (rows + more);
    if (best != 0 && time >= min_time) continue;
    min_time = time, best = rows;
  }
  return best;
}

}  // namespace

CrossSums take_window_sums(int width, int planes, int height, int radius, Arena& arena) {
  return radius > kMaxRadius ? CrossSums::take(width, planes, height, arena) : CrossSums{};
}

void queue_constant_window(const DeviceVolume& costs, int radius, float max_cost,
                           const DeviceVolume& aggregated, const CrossSums& sums, cudaStream_t stream) {
  EXPECTS(radius >= 0 && radius <= kMaxConstantRadius);
  EXPECTS(costs.width == aggregated.width && costs.planes == aggregated.planes &&
          costs.height == aggregated.height && costs.pitch == aggregated.pitch);
  EXPECTS(costs.data != aggregated.data || costs.data == nullptr);
  EXPECTS(costs.width <= kMaxAggregatedWidth && costs.pitch % 4 == 0);
  const CostUnit unit = cost_unit(max_cost);
  if (costs.empty()) return;
  // A window larger than the image contains the same pixels as one of the image's size.
  const int reach = std::min(radius, std::max(costs.width, costs.height));
  if (reach > kMaxRadius) {
    CrossImages window;
    window.longest = reach;
    return queue_cross_by_sums({window, CrossOrder::kVertical, costs, aggregated, unit}, sums, stream);
  }
  constexpr int kMaxColumns = kColumns * kMaxThreads;
  WindowGrid grid{costs, aggregated, unit, reach, rounded_up(costs.width, kColumns), 0, 0};
  if (grid.columns > kMaxColumns) {
    grid.beyond = rounded_up(reach + 1, kColumns);
    const int parts = divided_up(costs.width, kMaxColumns - 2 * grid.beyond);
    grid.columns = rounded_up(divided_up(costs.width, parts), kColumns);
  }
  const int parts = divided_up(costs.width, grid.columns);
  const int threads = rounded_up((grid.columns + 2 * grid.beyond) / kColumns, 32);
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  grid.rows = band_rows(costs.height, reach, parts * costs.planes, multiprocessors * kBlocks);
  const dim3 blocks(static_cast<unsigned>(parts), static_cast<unsigned>(costs.planes),
                    blocks_for(costs.height, grid.rows));
  window_kernel<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(grid);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda
