#include <algorithm>

#include "cuda/aggregate/constant_window.hpp"
#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/device/error.hpp"
#include "cuda/device/shared_memory.hpp"

/// A thread block moves down a band of rows of one plane, over the full width or a part of it. A thread keeps
/// the sums of a few columns over the rows of the window; each step adds the entering row and subtracts the
/// leaving one. The thread block computes prefix sums of these in shared memory; a window sum is the
/// difference of two.

namespace recon::cuda {
namespace {

struct WindowGrid {
  DeviceVolume costs, means;
  CostUnit unit;
  int radius;
  int columns;  ///< of the means of a thread block
  int beyond;   ///< halo columns read on the left and right, a multiple of 4, or 0
  int rows;     ///< per band
};

/// Columns and rows of a thread block.
struct Part {
  int first_x, begin_x, end_x;  ///< read from first_x on; means of begin_x .. end_x - 1
  int begin, end, top;          ///< rows of the means; the first row that is read
  int d;

  __device__ explicit Part(const WindowGrid& grid)
      : begin_x(static_cast<int>(blockIdx.x) * grid.columns),
        end_x(min(begin_x + grid.columns, grid.costs.width)),
        begin(static_cast<int>(blockIdx.z) * grid.rows),
        end(min(begin + grid.rows, grid.costs.height)),
        top(max(0, begin - grid.radius)),
        d(static_cast<int>(blockIdx.y)) {
    first_x = max(0, begin_x - grid.beyond);
  }
};

/// Sums of `Columns` neighbouring columns over the rows of the window, and the number of gaps among them.
template <int Columns>
class ColumnWindows {
 public:
  static constexpr int kVectors = Columns / 4;
  struct Row {
    float4 four[kVectors];
  };

  __device__ ColumnWindows(const WindowGrid& grid, const Part& part, int thread)
      : unit_(grid.unit),
        y_(part.top),
        top_(part.top),
        span_(2 * grid.radius + 1),
        height_(grid.costs.height) {
    const int x = part.first_x + Columns * thread;
    left_ = grid.costs.width - x;
    row_step_ = grid.costs.planes * grid.costs.pitch;
    row_ = grid.costs.row(part.top, part.d) + x;
    start(min(part.begin + grid.radius, height_));
    const int more = part.begin + grid.radius - y_;  // outside the image, where nothing is read
    y_ += more, row_ += more * row_step_;
  }

  /// Issues the loads of the next entering row and of the row that leaves then; does not wait for them.
  __device__ void load(Row& entering, Row& leaving) {
    const bool leaves = y_ - span_ >= top_ && y_ - span_ < height_;
    leaving = load_from(row_ - span_ * row_step_, leaves);
    entering = load(y_ < height_);
  }

  __device__ void move_to(const Row& entering, const Row& leaving) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const float4 in = entering.four[v], out = leaving.four[v];
      const bool plain = 4 * v + 4 <= left_ && is_cost(in.x) && is_cost(in.y) && is_cost(in.z) &&
                         is_cost(in.w) && is_cost(out.x) && is_cost(out.y) && is_cost(out.z) &&
                         is_cost(out.w);
      if (plain) {
        move(4 * v, in.x, out.x);
        move(4 * v + 1, in.y, out.y);
        move(4 * v + 2, in.z, out.z);
        move(4 * v + 3, in.w, out.w);
      } else {
        move_with_gaps(4 * v, in.x, out.x);
        move_with_gaps(4 * v + 1, in.y, out.y);
        move_with_gaps(4 * v + 2, in.z, out.z);
        move_with_gaps(4 * v + 3, in.w, out.w);
      }
    }
  }

  double sum[Columns] = {};
  int gaps[Columns] = {};

 private:
  /// Accumulates the rows before `last`, loading several at a time.
  __device__ void start(int last) {
    constexpr int kAtOnce = Columns == 4 ? 8 : 1;
    const Row nothing{};
    while (y_ < last) {
      Row rows[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) rows[i] = load_from(row_ + i * row_step_, y_ + i < last);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) move_to(rows[i], nothing);
      const int done = min(kAtOnce, last - y_);
      y_ += done, row_ += done * row_step_;
    }
  }

  __device__ Row load(bool wanted) {
    const Row row = load_from(row_, wanted);
    ++y_, row_ += row_step_;
    return row;
  }

  /// Loads whole vectors, although the padding of a row is undefined.
  __device__ Row load_from(const float* from, bool wanted) const {
    Row row;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      row.four[v] = make_float4(0, 0, 0, 0);
      if (wanted && 4 * v < left_) row.four[v] = __ldg(reinterpret_cast<const float4*>(from) + v);
    }
    return row;
  }

  __device__ __forceinline__ void move(int i, float in, float out) {
    sum[i] = (sum[i] - static_cast<double>(unit_.rounded(out))) + static_cast<double>(unit_.rounded(in));
  }
  __device__ void move_with_gaps(int i, float in, float out) {
    if (i >= left_) return;
    const CostSum enters = summand(in, unit_), leaves = summand(out, unit_);
    sum[i] = (sum[i] - leaves.sum) + enters.sum;
    gaps[i] += leaves.count - enters.count;
  }

  CostUnit unit_;
  int y_;  ///< the row that enters next
  int top_, span_, height_;
  int left_;  ///< columns of the image from the first one on
  const float* row_;
  std::ptrdiff_t row_step_;
};

/// Inclusive prefix sum of `value` over the threads, for several rows at once; `totals` has space for one
/// value per row and warp. Returns whether `any` is true for any thread.
template <class T, int Rows>
__device__ bool sum_of_threads_up_to(T (&value)[Rows], T* totals, bool any) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2)
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const T before = __shfl_up_sync(0xFFFFFFFFu, value[r], step);
      if (lane >= step) value[r] += before;
    }
#pragma unroll
  for (int r = 0; r < Rows; ++r)
    if (lane == 31) totals[warp * Rows + r] = value[r];
  any = __syncthreads_or(any);
  T before[Rows] = {};
  for (int w = 0; w < warp; ++w)
#pragma unroll
    for (int r = 0; r < Rows; ++r) before[r] += totals[w * Rows + r];
#pragma unroll
  for (int r = 0; r < Rows; ++r) value[r] += before[r];
  return any;
}

/// The windows of the means of one thread: every blockDim.x-th column.
template <int Columns>
struct WindowEnds {
  int end[Columns], begin[Columns];  ///< positions in a line of prefix sums; the empty sum is at -1
  float columns[Columns];
  float reciprocal[Columns];  ///< of the count if all rows of the window are in the image

  __device__ WindowEnds(const WindowGrid& grid, const Part& part) {
#pragma unroll
    for (int i = 0; i < Columns; ++i) {
      // Outside the part the thread stores no mean, but reads a sum.
      const int x = min(part.begin_x + static_cast<int>(threadIdx.x + blockDim.x * i), part.end_x - 1);
      const int last = min(x + grid.radius, grid.costs.width - 1), before = max(x - grid.radius, 0) - 1;
      end[i] = last - part.first_x;
      begin[i] = before - part.first_x;
      columns[i] = static_cast<float>(last - before);
      reciprocal[i] = 1.0f / (columns[i] * static_cast<float>(2 * grid.radius + 1));
    }
  }
};

/// Prefix sums in shared memory, of several rows. Each line is preceded by a 0.
template <class T>
struct Lines {
  static constexpr int kBefore = 16 / sizeof(T);
  T* memory;
  int pitch;

  __device__ T* line(int r) const { return memory + r * pitch + kBefore; }
};

/// Prefix sums of the windows of several rows, first within each thread's columns, then over the full lines.
template <class T, int Columns, int Rows>
struct LineSums {
  T upto[Rows][Columns];

  /// @param totals  shared memory, one T per row and warp
  __device__ bool add_up(const Lines<T>& lines, T* totals, bool any) {
    struct alignas(16) Vector {
      T value[16 / sizeof(T)];
    };
    constexpr int kEach = 16 / sizeof(T);
    T total[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) total[r] = upto[r][Columns - 1];
    any = sum_of_threads_up_to(total, totals, any);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const T before = total[r] - upto[r][Columns - 1];
      auto* to = reinterpret_cast<Vector*>(lines.line(r) + Columns * static_cast<int>(threadIdx.x));
#pragma unroll
      for (int i = 0; i < Columns; i += kEach) {
        Vector vector;
#pragma unroll
        for (int k = 0; k < kEach; ++k) vector.value[k] = before + upto[r][i + k];
        to[i / kEach] = vector;
      }
    }
    return any;
  }
};

/// Means of one row of windows.
struct WindowRow {
  const double* sums;
  const int* gaps;  ///< null: no gaps
  float rows;       ///< of the windows
  bool whole;       ///< all of them are in the image
};

/// The mean of any window, by division.
template <int Columns>
__device__ float exact_mean(const WindowEnds<Columns>& ends, const WindowRow& row, float sum, int i) {
  float count = ends.columns[i] * row.rows;
  if (row.gaps)
    count = static_cast<float>(static_cast<int>(ends.columns[i]) * static_cast<int>(row.rows) -
                               (row.gaps[ends.end[i]] - row.gaps[ends.begin[i]]));
  return count > 0.0f ? sum / count : INFINITY;
}

/// Stores `means` means; `out` is the position of the thread's first one.
template <int Columns>
__device__ __forceinline__ void store_means(const WindowEnds<Columns>& ends, const WindowRow& row, float* out,
                                            int means) {
  float sum[Columns], mean[Columns];
#pragma unroll
  for (int i = 0; i < Columns; ++i) {
    sum[i] = static_cast<float>(row.sums[ends.end[i]] - row.sums[ends.begin[i]]);
    mean[i] = quotient_by_count(sum[i], ends.columns[i] * row.rows, ends.reciprocal[i]);
  }
  if (!row.whole || row.gaps) {
#pragma unroll
    for (int i = 0; i < Columns; ++i)
      if (i < means) mean[i] = exact_mean(ends, row, sum[i], i);
  }
#pragma unroll
  for (int i = 0; i < Columns; ++i)
    if (i < means) out[blockDim.x * i] = mean[i];
}

/// `Rows` rows per step, `Columns` columns per thread.
template <int Columns, int Rows, int kMaxThreads, int kTogether>
__global__ void __launch_bounds__(kMaxThreads, kTogether)
    window_kernel(const __grid_constant__ WindowGrid grid) {
  extern __shared__ double window_memory[];
  __shared__ double totals[kMaxThreads / 32 * Rows];
  __shared__ int gap_totals[kMaxThreads / 32 * Rows];
  const Part part(grid);
  const int thread = static_cast<int>(threadIdx.x), columns = Columns * static_cast<int>(blockDim.x);
  const Lines<double> sums{window_memory, columns + Lines<double>::kBefore};
  const Lines<int> gaps{reinterpret_cast<int*>(window_memory + Rows * sums.pitch),
                        columns + Lines<int>::kBefore};
  if (thread < Rows) sums.line(thread)[-1] = 0.0, gaps.line(thread)[-1] = 0;
  using Windows = ColumnWindows<Columns>;
  Windows windows(grid, part, thread);
  const WindowEnds<Columns> ends(grid, part);
  typename Windows::Row entering[Rows], leaving[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) windows.load(entering[r], leaving[r]);
  float* out = grid.means.row(part.begin, part.d) + part.begin_x + thread;
  const std::ptrdiff_t row_step = grid.means.planes * grid.means.pitch;
  const int threads = static_cast<int>(blockDim.x);
  const int means = (part.end_x - part.begin_x - thread + threads - 1) / threads;
  for (int first = part.begin; first < part.end; first += Rows) {
    LineSums<double, Columns, Rows> line;
    LineSums<int, Columns, Rows> gap_line;
    int any_gap = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      windows.move_to(entering[r], leaving[r]);
      windows.load(entering[r], leaving[r]);
      double sum = 0.0;
      int gap = 0;
#pragma unroll
      for (int i = 0; i < Columns; ++i) {
        line.upto[r][i] = sum += windows.sum[i];
        gap_line.upto[r][i] = gap += windows.gaps[i];
      }
      any_gap |= gap;
    }
    const bool with_gaps = line.add_up(sums, totals, any_gap != 0);
    if (with_gaps) gap_line.add_up(gaps, gap_totals, false);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const int y = first + r;
      const int rows = min(y + grid.radius, grid.costs.height - 1) - max(y - grid.radius, 0) + 1;
      if (y < part.end)
        store_means(ends,
                    WindowRow{sums.line(r), with_gaps ? gaps.line(r) : nullptr, static_cast<float>(rows),
                              rows == 2 * grid.radius + 1},
                    out, means);
      out += row_step;
    }
    // The next step writes to these lines only after a barrier that all threads reach once they have read
    // them.
  }
}

constexpr int kRows = 1, kBlocks = 6;       ///< per step; per multiprocessor, limited by registers
constexpr int kNarrow = 512, kWide = 4096;  ///< columns per thread block

int rounded_up(int size, int step) {
  return (size + step - 1) / step * step;
}

/// Rows per band such that all multiprocessors have work; a band reads up to 2 `radius` extra rows, each in
/// about a quarter of the time of a row of means.
int band_rows(int height, int radius, int blocks, int at_once) {
  const int more = std::min(2 * radius, height) / 4;
  int best = 0;
  long min_time = 0;
  for (int bands = 1; bands <= 32; ++bands) {
    const int rows = (height + bands - 1) / bands;
    const long all = static_cast<long>(blocks) * ((height + rows - 1) / rows);
    const long time = (all + at_once - 1) / at_once * (rows + more);
    if (best != 0 && time >= min_time) continue;
    min_time = time, best = rows;
  }
  return best;
}

template <int Columns, int Rows, int kMaxThreads, int kTogether>
void launch(WindowGrid grid, int most_columns, cudaStream_t stream) {
  const int width = grid.costs.width, height = grid.costs.height;
  const int whole = rounded_up(width, 4);
  const bool parts = whole > most_columns;
  grid.beyond = parts ? rounded_up(grid.radius, 4) : 0;
  grid.columns = whole;
  if (parts) {
    const int most = most_columns - 2 * grid.beyond, count = (width + most - 1) / most;
    grid.columns = rounded_up((width + count - 1) / count, 4);
  }
  const int strips = (width + grid.columns - 1) / grid.columns;
  const int threads = rounded_up((grid.columns + 2 * grid.beyond + Columns - 1) / Columns, 32);
  const std::size_t bytes =
      static_cast<std::size_t>(Rows * Columns * threads) * (sizeof(double) + sizeof(int)) + Rows * 32;
  const auto kernel = window_kernel<Columns, Rows, kMaxThreads, kTogether>;
  allow_shared_memory(kernel);
  int device = 0, multiprocessors = 1, together = 1;
  RECON_CUDA_TRY(cudaGetDevice(&device));
  RECON_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  RECON_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, kernel, threads, bytes));
  grid.rows =
      band_rows(height, grid.radius, strips * grid.costs.planes, multiprocessors * std::max(together, 1));
  const dim3 blocks(static_cast<unsigned>(strips), static_cast<unsigned>(grid.costs.planes),
                    static_cast<unsigned>((height + grid.rows - 1) / grid.rows));
  kernel<<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(grid);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void queue_wide_window(const DeviceVolume& costs, int radius, CostUnit unit, const DeviceVolume& aggregated,
                       cudaStream_t stream) {
  const WindowGrid grid{costs, aggregated, unit, radius, 0, 0, 0};
  if (costs.width <= kNarrow || radius <= kNarrow / 8)
    launch<4, kRows, kNarrow / 4, kBlocks>(grid, kNarrow, stream);
  else if (costs.width <= kWide || radius <= kWide / 8)
    launch<4, 1, 1024, 1>(grid, kWide, stream);
  else
    launch<16, 1, 1024, 1>(grid, kMaxAggregatedWidth, stream);
}

}  // namespace recon::cuda
