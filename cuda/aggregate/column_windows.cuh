#pragma once

#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/device/volume.hpp"

/// The vertical half of a constant window: column sums that a thread updates from row to row of a band.

namespace recon::cuda {

inline constexpr int kColumns = 4;  ///< per thread, read and written as one vector
inline constexpr int kRows = 2;     ///< per step

struct WindowGrid {
  DeviceVolume costs, means;
  CostUnit unit;
  int radius;
  int columns;  ///< of the means of a thread block
  int beyond;   ///< halo columns read on the left and right
  int rows;     ///< per band
};

/// The same value, opaque to the compiler: it is not recomputed in every step.
__device__ __forceinline__ unsigned kept(unsigned value) {
  return __shfl_sync(0xFFFFFFFFu, value, static_cast<int>(threadIdx.x) % 32);
}
__device__ __forceinline__ int kept(int value) {
  return static_cast<int>(kept(static_cast<unsigned>(value)));
}

/// Rows of a thread block's band, counted from the top, or in every other band from the bottom of the image:
/// then neighbouring bands read their common rows at the same time.
struct Band {
  int begin, end;  ///< of the means
  int top;         ///< the first row that is read
  std::ptrdiff_t row_step;
  bool up;

  __device__ explicit Band(const WindowGrid& grid) : up(blockIdx.z % 2 != 0) {
    const int height = grid.costs.height, first = static_cast<int>(blockIdx.z) * grid.rows;
    const int last = min(first + grid.rows, height);
    begin = up ? height - last : first;
    end = up ? height - first : last;
    top = max(0, begin - grid.radius);
    row_step = grid.costs.planes * grid.costs.pitch;
    if (up) row_step = -row_step;
  }
  __device__ float* row(const DeviceVolume& volume, int y) const {
    return volume.row(up ? volume.height - 1 : 0, static_cast<int>(blockIdx.y)) + y * row_step;
  }
};

__device__ __forceinline__ float4 no_costs() {
  return make_float4(0, 0, 0, 0);
}

/// Sums of four neighbouring columns over the rows of the window, and the number of gaps among them, one byte
/// each: for windows of up to 2 kMaxSquareRadius + 1 rows. Columns to the right of the image are 0.
class ColumnWindows {
 public:
  __device__ __forceinline__ ColumnWindows(const WindowGrid& grid, const Band& band, int x)
      : offset_(grid.unit.offset()),
        row_step_(band.row_step),
        radius_(grid.radius),
        height_(grid.costs.height),
        end_(band.end),
        top_(band.top) {
    const int from_x = min(x, (grid.costs.width - 1) / kColumns * kColumns);
    const int columns = min(max(grid.costs.width - x, 0), kColumns);
    columns_ = kept(columns == kColumns ? 0xFFFFFFFFu : (1u << 8 * columns) - 1);
    whole_begin_ = kept(top_ + radius_ + 1);
    whole_end_ = kept(min(height_ - radius_, end_) - kRows);
    entering_ = band.row(grid.costs, band.begin + radius_) + from_x;
    leaving_ = band.row(grid.costs, band.begin - radius_ - 1) + from_x;
    load(band.begin);
    start(band.row(grid.costs, top_) + from_x, min(band.begin + radius_, height_));
  }

  /// Moves to the rows of the next step; for each, returns the prefix sums over the thread's columns, and the
  /// gaps.
  __device__ __forceinline__ void move(unsigned (&upto)[kRows][kColumns], unsigned (&gaps)[kRows]) {
    unsigned enters[kRows][kColumns], change[kRows][kColumns], any = 0;
    if (columns_ != 0xFFFFFFFFu) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) cut(in_[r]), cut(out_[r]);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      any |= count_units(in_[r], enters[r]);
      gaps[r] = 0;
    }
    // If the window has no gaps, the rows that leave it have none.
    if (gaps_ == 0 && all_finite(any)) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        unsigned leaves[kColumns];
        count_units(out_[r], leaves);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) change[r][i] = enters[r][i] - leaves[i];
      }
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        exchange_with_gaps(in_[r], out_[r], change[r]);
        gaps[r] = gaps_;
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        sum_[i] += change[r][i];
        upto[r][i] = i == 0 ? sum_[0] : upto[r][i - 1] + sum_[i];
      }
  }

  /// Issues the loads of the step that starts at row `first`; does not wait for them.
  __device__ __forceinline__ void load(int first) {
    if (first >= whole_begin_ && first <= whole_end_) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        in_[r] = read(entering_ + r * row_step_);
        out_[r] = read_last(leaving_ + r * row_step_);
      }
    } else {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int y = first + r;
        in_[r] = y < end_ && y + radius_ < height_ ? read(entering_ + r * row_step_) : no_costs();
        out_[r] = y < end_ && y - radius_ - 1 >= top_ ? read_last(leaving_ + r * row_step_) : no_costs();
      }
    }
    entering_ += kRows * row_step_, leaving_ += kRows * row_step_;
  }

 private:
  /// Accumulates the rows before `last`, loading many at a time.
  __device__ __forceinline__ void start(const float* from, int last) {
    constexpr int kAtOnce = 8;
    const float* first = from;
    unsigned any = __float_as_uint(offset_);
#pragma unroll 1
    for (int y = top_; y < last; y += kAtOnce, from += kAtOnce * row_step_) {
      float4 rows[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) rows[i] = y + i < last ? read(from + i * row_step_) : no_costs();
      if (columns_ != 0xFFFFFFFFu) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) cut(rows[i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        unsigned enters[kColumns];
        any |= count_units(rows[i], enters);
#pragma unroll
        for (int k = 0; k < kColumns; ++k) sum_[k] += enters[k];
      }
#pragma unroll
      for (int k = 0; k < kColumns; ++k) sum_[k] -= kAtOnce * __float_as_uint(offset_);
    }
    if (!all_finite(any)) start_with_gaps(first, last);
  }
  __device__ void start_with_gaps(const float* from, int last) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k) sum_[k] = 0;
#pragma unroll 1
    for (int y = top_; y < last; ++y, from += row_step_) {
      float4 row = read(from);
      cut(row);
      unsigned change[kColumns];
      exchange_with_gaps(row, no_costs(), change);
#pragma unroll
      for (int k = 0; k < kColumns; ++k) sum_[k] += change[k];
    }
  }

  /// Costs to bits of floats, in units above the offset; returns the argument of all_finite.
  __device__ __forceinline__ unsigned count_units(float4 costs, unsigned (&whole)[kColumns]) const {
    whole[0] = __float_as_uint(costs.x + offset_);
    whole[1] = __float_as_uint(costs.y + offset_);
    whole[2] = __float_as_uint(costs.z + offset_);
    whole[3] = __float_as_uint(costs.w + offset_);
    return whole[0] | whole[1] | whole[2] | whole[3];
  }
  /// All finite costs have the exponent of the offset.
  __device__ __forceinline__ bool all_finite(unsigned any) const {
    return (any & 0x7F800000u) == __float_as_uint(offset_);
  }
  /// Zeroes the columns outside the image: the padding of a row is undefined.
  __device__ __forceinline__ void cut(float4& costs) const {
    if (!(columns_ & 0x000000FFu)) costs.x = 0;
    if (!(columns_ & 0x0000FF00u)) costs.y = 0;
    if (!(columns_ & 0x00FF0000u)) costs.z = 0;
    if (!(columns_ & 0xFF000000u)) costs.w = 0;
  }

  /// Loads whole vectors.
  __device__ static float4 read(const float* from) {
    return __ldg(reinterpret_cast<const float4*>(from));
  }
  /// The same for data that is not needed again.
  __device__ static float4 read_last(const float* from) {
    return __ldlu(reinterpret_cast<const float4*>(from));
  }

  __device__ __forceinline__ void exchange_with_gaps(float4 in, float4 out, unsigned (&change)[kColumns]) {
    change[0] = exchange_with_gaps(0, in.x, out.x);
    change[1] = exchange_with_gaps(1, in.y, out.y);
    change[2] = exchange_with_gaps(2, in.z, out.z);
    change[3] = exchange_with_gaps(3, in.w, out.w);
  }
  __device__ __forceinline__ unsigned exchange_with_gaps(int i, float in, float out) {
    const bool enters = is_cost(in), leaves = is_cost(out);
    gaps_ += (enters ? 0u : 1u << 8 * i) - (leaves ? 0u : 1u << 8 * i);
    return __float_as_uint((enters ? in : 0.0f) + offset_) - __float_as_uint((leaves ? out : 0.0f) + offset_);
  }

  float offset_;
  std::ptrdiff_t row_step_;
  int radius_, height_, end_, top_;
  int whole_begin_, whole_end_;  ///< first rows of steps that need no row outside the image or the band
  const float *entering_, *leaving_;
  float4 in_[kRows], out_[kRows];
  unsigned sum_[kColumns] = {};  ///< units
  unsigned gaps_ = 0;
  unsigned columns_;  ///< all bits in the bytes of columns in the image
};

}  // namespace recon::cuda
