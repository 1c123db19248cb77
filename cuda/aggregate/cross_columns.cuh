#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/aggregate/cost_sum.cuh"
#include "cuda/aggregate/cross_strip.cuh"
#include "cuda/device/ptx.cuh"

/// The column warps of a strip: they sum down the columns and compute the means.

namespace recon::cuda::strips {

extern __shared__ uint4 strip_memory[];

__device__ __forceinline__ RowLines& row_lines() {
  return *reinterpret_cast<RowLines*>(strip_memory);
}
template <int Offset>
__device__ __forceinline__ uint2 load_words(unsigned from) {
  uint2 words;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+%3];"
               : "=r"(words.x), "=r"(words.y)
               : "r"(from), "n"(Offset)
               : "memory");
  return words;
}
template <int Offset>
__device__ __forceinline__ void store_words(unsigned to, std::uint32_t x, std::uint32_t y) {
  asm volatile("st.shared.v2.u32 [%0+%1], {%2, %3};" ::"r"(to), "n"(Offset), "r"(x), "r"(y) : "memory");
}

/// from + Times * by, as one instruction that the compiler does not split.
template <int Times>
__device__ __forceinline__ unsigned moved(unsigned from, unsigned by) {
  unsigned to;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(to) : "r"(by), "n"(Times), "r"(from));
  return to;
}
template <int Times, class T>
__device__ __forceinline__ T* moved(T* from, unsigned bytes) {
  T* to;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(to) : "r"(bytes), "n"(Times), "l"(from));
  return to;
}

/// Calls `use` with std::integral_constant<int, 0> .. kStep - 1: offsets of loads have to be constants.
template <class Use>
__device__ __forceinline__ void for_rows(const Use& use) {
  static_assert(kStep == 4);
  use(std::integral_constant<int, 0>{});
  use(std::integral_constant<int, 1>{});
  use(std::integral_constant<int, 2>{});
  use(std::integral_constant<int, 3>{});
}

/// Prefix sums down the columns, in a ring of rows of `Columns`. An entry is the sum in units, and a word of
/// four times the count (16 bits), the upper and the lower arm of the pixel. Positions are in bytes from the
/// first column of the first row.
template <int Columns>
struct Ring {
  static constexpr int kSample = 2 * sizeof(std::uint32_t), kPitch = Columns * kSample;
  static constexpr int kBegin = (sizeof(RowLines) + 127) / 128 * 128;  ///< offset in shared memory
  unsigned size;

  static __device__ __forceinline__ unsigned begin() { return shared_address(strip_memory) + kBegin; }
  /// Positions a number of rows above and below a position; a negative one wraps to a large unsigned number.
  __device__ __forceinline__ unsigned up(unsigned at, unsigned rows) const {
    at = moved<-kPitch>(at, rows);
    return __viaddmin_u32(at, size, at);
  }
  __device__ __forceinline__ unsigned down(unsigned at, unsigned rows) const {
    at = moved<kPitch>(at, rows);
    return __viaddmin_u32(at, -size, at);
  }
  __device__ __forceinline__ unsigned next_step(unsigned at) const {
    return __viaddmin_u32(at, kStep * kPitch - size, at + kStep * kPitch);
  }
};

/// Each thread sums one column, one step behind the row warps.
template <int Columns>
class ColumnAdder {
 public:
  __device__ ColumnAdder(const StripGrid& grid, const Strip& strip, int column)
      : height_(grid.pass.costs.height),
        y_(strip.top),
        row_bytes_(static_cast<unsigned>(grid.pass.arms.pitch * sizeof(Cross))),
        ring_{grid.ring},
        now_(static_cast<unsigned>(column * Ring<Columns>::kSample)) {
    const StripPass& pass = grid.pass;
    const CrossImages& arms = pass.arms;
    const int width = pass.costs.width;
    // A thread outside the strip repeats the last column.
    own_ = min(column, min(grid.columns, width - strip.first_x) - 1);
    const int x = strip.first_x + own_;
    own_ += margin_of(arms.longest);
    const int shift = matching_column(arms.side, 0, arms.min_disparity + strip.d);
    rows_on_ = pass.transposed ? shift : 0;
    here_ = reinterpret_cast<const std::uint32_t*>(arms.reference) + y_ * arms.pitch + x;
    const int there_x = pass.transposed ? x : x + shift;
    if (arms.source != nullptr && there_x >= 0 && there_x < width)
      there_ = reinterpret_cast<const std::uint32_t*>(arms.source) + (y_ + rows_on_) * arms.pitch + there_x;
    store_words<0>(Ring<Columns>::begin() + ring_.up(now_, 1), 0, 0);  // before the first row
    load();
  }

  __device__ __forceinline__ void add_up(int turn) {
    std::uint32_t even[kStep], odd[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      even[i] = __vminu2(here_words_[i] & kEven, there_words_[i] & kEven);
      odd[i] = __vminu2(here_words_[i], there_words_[i]);  // the upper bytes decide
    }
    load();
    const unsigned line = shared_address(row_lines().sums[turn][0] + own_), after = line + 4;
    std::uint32_t sum[kStep], count[kStep];
    for_rows([&](auto row) {
      constexpr int i = decltype(row)::value, kRow = i * kLine * sizeof(std::uint32_t);
      const unsigned end = moved<4>(after, right(odd[i])), begin = moved<-4>(line, left(even[i]));
      sum[i] = load_word<kRow>(end) - load_word<kRow>(begin);
      count[i] = end - begin;
    });
    if (row_lines().gaps_of(turn) != 0) count_finite(turn, even, odd, count);
    const unsigned to = Ring<Columns>::begin() + now_;
    for_rows([&](auto row) {
      constexpr int i = decltype(row)::value;
      sum_ += sum[i], count_ += count[i];
      store_words<i * Ring<Columns>::kPitch>(
          to, sum_, __byte_perm(count_, __byte_perm(even[i], odd[i], 0x7200), 0x7610));
    });
    now_ = ring_.next_step(now_);
  }

 private:
  static constexpr std::uint32_t kEven = 0x00FF00FFu;  ///< left and up; odd: right and down

  static __device__ __forceinline__ unsigned left(std::uint32_t even) {
    return even & 0xFFFFu;
  }
  static __device__ __forceinline__ unsigned right(std::uint32_t odd) {
    return __byte_perm(odd, 0, 0x4441);
  }
  /// Loads the crosses of the next step; does not wait for them. Without a reference cross all arms are 0;
  /// without a source cross they have the max length.
  __device__ __forceinline__ void load() {
    const int there_y = y_ + rows_on_;
    if (y_ + kStep <= height_ && (!there_ || (there_y >= 0 && there_y + kStep <= height_))) {
      for_rows([&](auto row) {
        constexpr int i = decltype(row)::value;
        here_words_[i] = __ldg(moved<i>(here_, row_bytes_));
        if (there_) there_words_[i] = __ldg(moved<i>(there_, row_bytes_));
      });
    } else {
      load_at_border();
    }
    here_ = moved<kStep>(here_, row_bytes_);
    if (there_) there_ = moved<kStep>(there_, row_bytes_);
    y_ += kStep;
  }
  __device__ void load_at_border() {
    const auto height = static_cast<unsigned>(height_);
    for_rows([&](auto row) {
      constexpr int i = decltype(row)::value;
      const bool inside = static_cast<unsigned>(y_ + i) < height;
      here_words_[i] = inside ? __ldg(moved<i>(here_, row_bytes_)) : 0u;
      there_words_[i] = ~0u;
      if (inside && there_ && static_cast<unsigned>(y_ + i + rows_on_) < height)
        there_words_[i] = __ldg(moved<i>(there_, row_bytes_));
    });
  }

  /// Four times the number of finite costs between the ends of the arms, for rows with gaps.
  __device__ void count_finite(int turn, const std::uint32_t (&even)[kStep],
                               const std::uint32_t (&odd)[kStep], std::uint32_t (&count)[kStep]) const {
    const RowLines& lines = row_lines();
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const std::uint8_t* counts = lines.counts[turn][i] + own_;
      const auto upto = counts[right(odd[i]) + 1], before = *(counts - left(even[i]));
      if (lines.gaps[turn][i]) count[i] = 4 * ((upto - before) & 0xFFu);
    }
  }

  int height_;
  int y_;               ///< the first row whose crosses are not yet loaded
  unsigned row_bytes_;  ///< per row of crosses
  Ring<Columns> ring_;
  unsigned now_;                                  ///< position of the first row of the next step
  int own_, rows_on_;                             ///< position in a line; rows to the matches
  const std::uint32_t *here_, *there_ = nullptr;  ///< their crosses
  std::uint32_t sum_ = 0, count_ = 0;
  std::uint32_t here_words_[kStep], there_words_[kStep] = {~0u, ~0u, ~0u, ~0u};
};

/// Computes the means of one column from the prefix sums of the same thread.
template <int Columns>
class ColumnMeans {
 public:
  __device__ ColumnMeans(const StripGrid& grid, const Strip& strip, int column)
      : first_(strip.top - delay_of(grid.pass.arms.longest)),
        begin_(strip.begin),
        unit_(4.0f * grid.pass.unit.unit),
        ring_{grid.ring} {
    const auto now = static_cast<unsigned>(column * Ring<Columns>::kSample);
    own_ = ring_.up(now, static_cast<unsigned>(delay_of(grid.pass.arms.longest)));
  }

  /// Passes the means of the rows whose supports are complete to `store`, with the index of the first row.
  template <class Store>
  __device__ __forceinline__ void emit(Store& store) {
    if (first_ >= begin_) {
      float means[kStep];
      take(means);
      store(first_, means);
    }
    own_ = ring_.next_step(own_);
    first_ += kStep;
  }

 private:
  __device__ __forceinline__ void take(float (&means)[kStep]) const {
    const unsigned ring = Ring<Columns>::begin();
    std::uint32_t words[kStep];
    uint2 before[kStep], upto[kStep];
    for_rows([&](auto row) {
      constexpr int i = decltype(row)::value;
      words[i] = load_word<i * Ring<Columns>::kPitch + 4>(ring + own_);
    });
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const unsigned own = own_ + i * Ring<Columns>::kPitch;
      before[i] =
          load_words<0>(ring + ring_.up(own - Ring<Columns>::kPitch, __byte_perm(words[i], 0, 0x4442)));
      upto[i] = load_words<0>(ring + ring_.down(own, words[i] >> 24));
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const float sum = static_cast<float>(upto[i].x - before[i].x),
                  count = static_cast<float>((upto[i].y - before[i].y) & 0xFFFFu);
      // An empty support gives NaN, for which fminf returns the other operand.
      means[i] = fminf(quotient_by_count(sum, count, near_reciprocal(count)) * unit_, INFINITY);
    }
  }

  int first_;  ///< row of the next means
  int begin_;
  float unit_;
  Ring<Columns> ring_;
  unsigned own_;  ///< the position of that row
};

}  // namespace recon::cuda::strips
