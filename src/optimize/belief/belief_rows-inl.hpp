// Rows of belief propagation in SIMD, compiled once per instruction set (Highway's per-target inclusion): the
// operations of belief_step.hpp, one pixel per lane.

#if defined(RECON_OPTIMIZE_BELIEF_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_OPTIMIZE_BELIEF_ROWS_INL_HPP_
#undef RECON_OPTIMIZE_BELIEF_ROWS_INL_HPP_
#else
#define RECON_OPTIMIZE_BELIEF_ROWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "core/half.hpp"
#include "optimize/belief/belief_tiling.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kBeliefColumnStep>;
using V32 = hn::Vec<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using I32 = hn::RebindToSigned<F32>;
using U16 = hn::Rebind<std::uint16_t, F32>;

HWY_INLINE V32 load(const float* p) {
  return hn::LoadU(F32(), p);
}
HWY_INLINE void store(V32 v, float* p) {
  hn::StoreU(v, F32(), p);
}

HWY_INLINE V32 load(const Bfloat16* p) {
  const auto bits = hn::LoadU(U16(), reinterpret_cast<const std::uint16_t*>(p));
  return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), bits)));
}
/// Does not handle NaN.
HWY_INLINE void store(V32 v, Bfloat16* p) {
  const U32 du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu))));
  hn::StoreU(hn::DemoteTo(U16(), hn::BitCast(I32(), rounded)), U16(), reinterpret_cast<std::uint16_t*>(p));
}

#if HWY_ARCH_X86 && (HWY_TARGET >= HWY_SSE4 || defined(HWY_DISABLE_F16C))
/// For processors without half conversion instructions.
HWY_INLINE V32 load(const Half* p) {
  HWY_ALIGN float values[hn::MaxLanes(F32())];
  for (std::size_t i = 0; i < hn::Lanes(F32()); ++i) values[i] = to_float(p[i]);
  return hn::Load(F32(), values);
}
HWY_INLINE void store(V32 v, Half* p) {
  HWY_ALIGN float values[hn::MaxLanes(F32())];
  hn::Store(v, F32(), values);
  for (std::size_t i = 0; i < hn::Lanes(F32()); ++i) p[i] = to_half(values[i]);
}
#else
HWY_INLINE V32 load(const Half* p) {
  const hn::Rebind<hwy::float16_t, F32> d16;
  return hn::PromoteTo(F32(), hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(p)));
}
HWY_INLINE void store(V32 v, Half* p) {
  const hn::Rebind<hwy::float16_t, F32> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(p));
}
#endif

/// Clamps sums of costs to finite halves.
template <class T>
HWY_INLINE V32 storable_cost(V32 v) {
  if constexpr (std::is_same_v<T, Half>) return hn::Min(v, hn::Set(F32(), kMostHalf));
  return v;
}

/// The column index of each lane.
HWY_INLINE V32 column_numbers(int column) {
  return hn::Iota(F32(), static_cast<float>(column));
}

struct Incoming {
  V32 cost, above, below, left, right;
};

/// Incoming messages of the pixels from a column, by ascending disparity.
template <bool kBorder, class T>
class IncomingColumns {
 public:
  HWY_INLINE IncomingColumns(const BeliefRow<T>& row, int column)
      : cost_(row.cost + column),
        above_(row.above + column),
        below_(row.below + column),
        left_(row.left + column),
        right_(row.right + column),
        cost_pitch_(row.cost_pitch),
        above_pitch_(row.above_pitch),
        below_pitch_(row.below_pitch),
        pitch_(row.pitch),
        has_left_(hn::Ge(column_numbers(column), hn::Set(F32(), static_cast<float>(row.first_with_left)))),
        has_right_(hn::Lt(column_numbers(column), hn::Set(F32(), static_cast<float>(row.end_with_right)))) {}

  HWY_INLINE Incoming next() {
    Incoming in{load(cost_), load(above_), load(below_), load(left_), load(right_)};
    if constexpr (kBorder) {
      in.left = hn::IfThenElseZero(has_left_, in.left);
      in.right = hn::IfThenElseZero(has_right_, in.right);
    }
    cost_ += cost_pitch_;
    above_ += above_pitch_;
    below_ += below_pitch_;
    left_ += pitch_;
    right_ += pitch_;
    return in;
  }

 private:
  const T *cost_, *above_, *below_, *left_, *right_;
  std::ptrdiff_t cost_pitch_, above_pitch_, below_pitch_, pitch_;
  hn::Mask<F32> has_left_, has_right_;
};

/// MessageRising and MessageFalling of belief_step.hpp.
struct Rising {
  V32 lowest, carry;

  HWY_INLINE Rising() : lowest(hn::Set(F32(), kNoBelief)), carry(lowest) {}

  HWY_INLINE V32 push(V32 h) {
    lowest = hn::Min(h, lowest);
    carry = hn::Min(h, hn::Add(carry, hn::Set(F32(), 1.0f)));
    return carry;
  }
};

struct Falling {
  V32 lowest, limit, carry;

  HWY_INLINE Falling(V32 lowest_h, V32 cap)
      : lowest(lowest_h), limit(hn::Add(lowest_h, cap)), carry(hn::Set(F32(), kNoBelief)) {}

  HWY_INLINE V32 push(V32 rising) {
    carry = hn::Min(rising, hn::Add(carry, hn::Set(F32(), 1.0f)));
    return hn::Sub(hn::Min(carry, limit), lowest);
  }
};

template <bool kBorder, class T>
HWY_INLINE void update_vector(const BeliefRow<T>& row, int column, float* HWY_RESTRICT scratch) {
  const F32 df;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(df));
  Rising up, down, left, right;
  float* kept = scratch;
  IncomingColumns<kBorder, T> columns(row, column);
  for (int d = row.disparities; d > 0; --d, kept += 4 * lanes) {
    const Incoming in = columns.next();
    const auto across = hn::Add(in.cost, hn::Add(in.left, in.right));
    const auto along = hn::Add(in.cost, hn::Add(in.above, in.below));
    hn::Store(up.push(hn::Add(across, in.below)), df, kept);
    hn::Store(down.push(hn::Add(across, in.above)), df, kept + lanes);
    hn::Store(left.push(hn::Add(along, in.right)), df, kept + 2 * lanes);
    hn::Store(right.push(hn::Add(along, in.left)), df, kept + 3 * lanes);
  }
  const auto cap = hn::Set(df, row.cap);
  Falling to_up(up.lowest, cap), to_down(down.lowest, cap), to_left(left.lowest, cap),
      to_right(right.lowest, cap);
  const std::ptrdiff_t last = (row.disparities - 1) * row.pitch + column, pitch = row.pitch;
  T *sent_up = row.sent[kMessageUp] + last, *sent_down = row.sent[kMessageDown] + last,
    *sent_left = row.sent[kMessageLeft] + last, *sent_right = row.sent[kMessageRight] + last;
  for (int d = row.disparities; d > 0; --d) {
    kept -= 4 * lanes;
    store(to_up.push(hn::Load(df, kept)), sent_up);
    store(to_down.push(hn::Load(df, kept + lanes)), sent_down);
    store(to_left.push(hn::Load(df, kept + 2 * lanes)), sent_left);
    store(to_right.push(hn::Load(df, kept + 3 * lanes)), sent_right);
    sent_up -= pitch;
    sent_down -= pitch;
    sent_left -= pitch;
    sent_right -= pitch;
  }
}

template <class T>
HWY_INLINE bool at_border(const BeliefRow<T>& row, int column, int lanes) {
  return column < row.first_with_left || column + lanes > row.end_with_right;
}

/// Messages sent by the pixels of columns [begin, end). @param scratch  kBeliefScratch floats per disparity
template <class T>
void update_row(const BeliefRow<T>& row, int begin, int end, float* scratch) {
  const int lanes = static_cast<int>(hn::Lanes(F32()));
  for (int column = begin; column < end; column += lanes) {
    if (at_border(row, column, lanes))
      update_vector<true>(row, column, scratch);
    else
      update_vector<false>(row, column, scratch);
  }
}

/// Stores the disparity of min belief of the pixels of columns [begin, end), the lowest on ties, in every
/// second element of `winners`.
template <class T>
void choose_row(const BeliefRow<T>& row, int begin, int end, std::uint16_t* winners) {
  const F32 df;
  const I32 di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  HWY_ALIGN std::int32_t found[hn::MaxLanes(di)];
  for (int column = begin; column < end; column += lanes) {
    auto lowest = hn::Set(df, kNoBelief);
    auto best = hn::Zero(di);
    IncomingColumns<true, T> columns(row, column);
    for (int d = 0; d < row.disparities; ++d) {
      const Incoming in = columns.next();
      const auto belief = hn::Add(hn::Add(in.cost, hn::Add(in.left, in.right)), hn::Add(in.above, in.below));
      best = hn::IfThenElse(hn::RebindMask(di, hn::Lt(belief, lowest)), hn::Set(di, d), best);
      lowest = hn::Min(belief, lowest);
    }
    hn::Store(best, di, found);
    for (int i = 0; i < std::min(lanes, end - column); ++i)
      winners[2 * (column + i)] = static_cast<std::uint16_t>(found[i]);
  }
}

/// Stores `count` costs, rounded up to whole vectors.
template <class T>
void store_costs(const float* costs, int count, T* stored) {
  const int lanes = static_cast<int>(hn::Lanes(F32()));
  for (int i = 0; i < count; i += lanes) store(storable_cost<T>(load(costs + i)), stored + i);
}

/// Costs of a coarser row's pixels for one disparity, each the sum of the four finer pixels in the order top
/// left, top right, bottom left, bottom right.
/// @param lower     nullptr for both if there is no lower row
/// @param sums      one float per pixel of the coarser row, rounded up to two vectors
template <class T>
void coarsen_row(const BeliefQuads<T>& fine, float* sums, T* even, T* odd) {
  const F32 df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto odd_columns = hn::Set(df, static_cast<float>(fine.odd_columns));
  for (int i = 0; i < fine.even_columns; i += lanes) {
    const auto has_odd = hn::Lt(column_numbers(i), odd_columns);
    auto sum = hn::Add(load(fine.upper_even + i), hn::IfThenElseZero(has_odd, load(fine.upper_odd + i)));
    if (fine.lower_even) {
      sum = hn::Add(sum, load(fine.lower_even + i));
      sum = hn::Add(sum, hn::IfThenElseZero(has_odd, load(fine.lower_odd + i)));
    }
    hn::StoreU(sum, df, sums + i);
  }
  for (int i = 0; 2 * i < fine.even_columns; i += lanes) {
    V32 even_sums, odd_sums;
    hn::LoadInterleaved2(df, sums + 2 * i, even_sums, odd_sums);
    store(storable_cost<T>(even_sums), even + i);
    store(storable_cost<T>(odd_sums), odd + i);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
