#pragma once

#include <cstdint>

#include "cuda/aggregate/cross_passes.hpp"
#include "cuda/aggregate/plane_arms.cuh"

/// A thread block goes down a strip of columns of two planes, four rows a step. Half of its warps add up the
/// rows of the next step, a warp a row: prefix sums, in shared memory. The other half, a thread a column,
/// takes the sums along the horizontal arms from those of the last step, adds them up down its column, and
/// keeps as many of these prefix sums as vertical arms reach over.

namespace recon::cuda::strips {

inline constexpr int kPlanes = 2;
inline constexpr int kStep = 4;          ///< rows
inline constexpr int kMaxColumns = 128;  ///< of a strip
inline constexpr int kMinColumns =
    48;                             ///< with fewer the rows' ends beyond the strip, read again, outweigh it
inline constexpr int kAligned = 4;  ///< strips begin at multiples of this
inline constexpr int kColumnThreads = kPlanes * kMaxColumns;
inline constexpr int kRowThreads = 32 * kPlanes * kStep;
inline constexpr int kThreads = kColumnThreads + kRowThreads;
inline constexpr int kTogether = 2;  ///< thread blocks of a multiprocessor, by their registers

/// Where the prefix sums of rows lie in shared memory: one more than `32 Elements`, and counts in bytes.
template <int Elements>
struct RowLines {
  static constexpr int kElements = 32 * Elements;
  double sums[2][kPlanes * kStep][kElements + 1];
  std::uint8_t counts[2][kPlanes * kStep][kElements + 4];
  std::uint8_t gaps[2][kPlanes * kStep];  ///< whether counts are to be looked at

  /// Of the rows of a step at once.
  __device__ std::uint32_t gaps_of(int turn, int plane) const {
    static_assert(kStep == 4, "a word");
    return *reinterpret_cast<const std::uint32_t*>(gaps[turn] + plane * kStep);
  }
};

struct StripGrid {
  StripPass pass;
  int columns;  ///< of a strip
  int rows;     ///< of a band, a multiple of kStep
  int kept;     ///< prefix sums of a column
};

/// What holds for a thread block.
struct Strip {
  int first_x, first_d;
  int begin, end;  ///< rows of the means
  int top;         ///< the first row of the first step, maybe above the image
  int steps;

  __device__ Strip(const StripGrid& grid, int longest)
      : first_x(static_cast<int>(blockIdx.x) * grid.columns),
        first_d(static_cast<int>(blockIdx.y) * kPlanes),
        begin(static_cast<int>(blockIdx.z) * grid.rows),
        end(min(begin + grid.rows, grid.pass.costs.height)),
        // A mean's row is `longest` rows above the one just added; steps begin where means come in fours.
        top(begin - longest - (kStep - 2 * longest % kStep) % kStep),
        steps((end - 1 + longest - top) / kStep + 1) {}
};

/// One warp, one row of each step.
template <int Elements>
class RowAdder {
 public:
  __device__ RowAdder(const StripPass& pass, const Strip& strip, int thread)
      : lane_(thread % 32), line_(thread / 32), height_(pass.costs.height) {
    const DeviceVolume& costs = pass.costs;
    const int d = strip.first_d + line_ / kStep, x = strip.first_x - pass.arms.longest + lane_;
    next_y_ = strip.top + line_ % kStep;
    row_step_ = kStep * costs.planes * costs.pitch;
    next_row_ = costs.row(next_y_, d) + x;
#pragma unroll
    for (int i = 0; i < Elements; ++i) {
      const bool inside = x + 32 * i >= 0 && x + 32 * i < costs.width && d < costs.planes;
      inside_ |= static_cast<unsigned>(inside) << i;
    }
    load();
  }

  __device__ void add_up(int turn, RowLines<Elements>& lines) {
    double* sums = lines.sums[turn][line_];
    float value[Elements];
    float* given = reinterpret_cast<float*>(sums);  // from every 32nd column to neighbours of a lane
#pragma unroll
    for (int i = 0; i < Elements; ++i) given[lane_ + 32 * i] = next_[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Elements; ++i) value[i] = given[lane_ * Elements + i];
    __syncwarp();
    load();
    bool gaps = false;
    double total = 0.0, upto[Elements];
#pragma unroll
    for (int i = 0; i < Elements; ++i) {
      const bool finite = is_cost(value[i]);
      gaps = gaps || !finite;
      total += static_cast<double>(finite ? value[i] : 0.0f);
      upto[i] = total;
    }
    const double before = sum_of_lanes_up_to(total) - total;
#pragma unroll
    for (int i = 0; i < Elements; ++i) sums[lane_ * Elements + i + 1] = before + upto[i];
    gaps = __any_sync(0xFFFFFFFFu, gaps);
    if (lane_ == 0) sums[0] = 0.0, lines.gaps[turn][line_] = gaps;
    if (gaps) count(value, lines.counts[turn][line_]);
  }

 private:
  template <class T>
  __device__ T sum_of_lanes_up_to(T value) const {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const T before = __shfl_up_sync(0xFFFFFFFFu, value, step);
      if (lane_ >= step) value += before;
    }
    return value;
  }

  /// Reads the row of the next step; nothing waits for it here.
  __device__ void load() {
    const unsigned inside = static_cast<unsigned>(next_y_) < static_cast<unsigned>(height_) ? inside_ : 0;
#pragma unroll
    for (int i = 0; i < Elements; ++i) {
      next_[i] = 0.0f;
      if (inside >> i & 1) next_[i] = __ldg(next_row_ + 32 * i);
    }
    next_y_ += kStep;
    next_row_ += row_step_;
  }

  /// Counts of finite costs, of which the lowest eight bits do: no row of arms has more than 255.
  __device__ void count(const float (&value)[Elements], std::uint8_t* counts) const {
    int own = 0;
#pragma unroll
    for (int i = 0; i < Elements; ++i) own += is_cost(value[i]) ? 1 : 0;
    int before = sum_of_lanes_up_to(own) - own;
    if (lane_ == 0) counts[0] = 0;
#pragma unroll
    for (int i = 0; i < Elements; ++i) {
      before += is_cost(value[i]) ? 1 : 0;
      counts[lane_ * Elements + i + 1] = static_cast<std::uint8_t>(before);
    }
  }

  int lane_, line_, height_, next_y_;
  unsigned inside_ = 0;  ///< which of the lane's columns there are
  const float* next_row_;
  std::ptrdiff_t row_step_;
  float next_[Elements];
};

/// Prefix sums down columns, kept in a ring of rows: sums, then words of 16 bits of a count, the upper and
/// the lower arm of the pixel. Offsets are bytes from the row that is written first.
class KeptSums {
 public:
  static constexpr int kBytes = sizeof(double) + sizeof(std::uint32_t);  ///< of a sample

  __device__ KeptSums(std::byte* memory, int columns, int column, int rows)
      : sums_(memory + column * sizeof(double)),
        words_(memory + columns * sizeof(double) + column * sizeof(std::uint32_t)),
        pitch_(columns * kBytes),
        size_(rows * pitch_) {}

  __device__ __forceinline__ double& sum(unsigned offset) const {
    return *reinterpret_cast<double*>(sums_ + offset);
  }
  __device__ __forceinline__ std::uint32_t& word(unsigned offset) const {
    return *reinterpret_cast<std::uint32_t*>(words_ + offset);
  }
  /// The offsets of other rows; less than 0 is more than all as an unsigned number.
  __device__ __forceinline__ unsigned up(unsigned offset, int rows) const {
    offset -= static_cast<unsigned>(rows * pitch_);
    return min(offset, offset + static_cast<unsigned>(size_));
  }
  __device__ __forceinline__ unsigned down(unsigned offset, int rows) const {
    offset += static_cast<unsigned>(rows * pitch_);
    return min(offset, offset - static_cast<unsigned>(size_));
  }
  __device__ __forceinline__ int pitch() const { return pitch_; }

 private:
  std::byte *sums_, *words_;
  int pitch_, size_;
};

}  // namespace recon::cuda::strips
