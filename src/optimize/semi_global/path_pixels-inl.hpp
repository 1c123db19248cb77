// The pixels of a pass of the semi-global optimizer in SIMD, compiled once per instruction set (Highway's
// per-target inclusion).

#if defined(RECON_OPTIMIZE_PATH_PIXELS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_OPTIMIZE_PATH_PIXELS_INL_HPP_
#undef RECON_OPTIMIZE_PATH_PIXELS_INL_HPP_
#else
#define RECON_OPTIMIZE_PATH_PIXELS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "optimize/semi_global/path_lanes-inl.hpp"
#include "optimize/semi_global/path_pass.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// L(p, d) - C(p, d) for a vector of disparities, at most P2; see path_cost. Saturated sums are larger than
/// any path cost.
template <class V>
HWY_INLINE V path_steps(V same, V below, V above, V p1, V min_cost, V farther) {
  const V near = hn::SaturatedAdd(hn::Min(below, above), p1);
  return hn::Sub(hn::Min(near, hn::Min(same, farther)), min_cost);
}

/// A vector of a path: L and L - C.
template <class V>
struct PathVector {
  V cost, step;
};

/// One step of a path in memory.
/// @param below  L(q, d - 1); updated for the next vector
/// @param last   all ones in the lane of the last element, which has no L(q, d + 1)
template <class D, class V>
HWY_INLINE PathVector<V> step_path(D d, hn::TFromD<D>* path, V cost, V p1, V min_cost, V farther, V last,
                                   V& below) {
  const V same = hn::Load(d, path), above = hn::Or(hn::LoadU(d, path + 1), last);
  const V next_below = hn::LoadU(d, path + hn::Lanes(d) - 1);
  const V step = path_steps(same, below, above, p1, min_cost, farther);
  const V now = hn::SaturatedAdd(cost, step);
  hn::Store(now, d, path);
  below = next_below;
  return {now, step};
}

/// Stores a vector of sums for the other pass, or adds the stored sums of the other pass.
template <PathSums kSums>
HWY_INLINE void take_sums(SumVector paths, std::uint16_t* other, const std::uint16_t* behind,
                          std::uint16_t* sums, std::ptrdiff_t k) {
  const SumTag d;
  if constexpr (kSums == PathSums::kStored)
    hn::Store(paths, d, other + k);
  else
    hn::Store(hn::Or(hn::Add(hn::Load(d, other + k), paths), hn::Load(d, behind + k)), d, sums + k);
}

/// The same for sums of L - C in bytes, which halves the data passed between passes.
template <PathSums kSums, bool kDiagonals, class V>
HWY_INLINE void take_steps(V steps, V cost, std::uint8_t* other, const std::uint16_t* behind,
                           std::uint16_t* sums, std::ptrdiff_t k) {
  const PathTag<std::uint8_t> d;
  const SumTag d16;
  if constexpr (kSums == PathSums::kStored) {
    hn::Store(steps, d, other + k);
  } else {
    constexpr int kPathsLog2 = kDiagonals ? 3 : 2;
    const V before = hn::Load(d, other + k);
    const auto sum = [](auto costs, auto a, auto b)
                         HWY_ATTR { return hn::Add(hn::ShiftLeft<kPathsLog2>(costs), hn::Add(a, b)); };
    const auto low = sum(low_sums(cost), low_sums(steps), low_sums(before));
    hn::Store(hn::Or(low, hn::Load(d16, behind + k)), d16, sums + k);
#if HWY_TARGET != HWY_SCALAR
    const std::ptrdiff_t half = k + static_cast<std::ptrdiff_t>(hn::Lanes(d16));
    const auto high = sum(high_sums(cost), high_sums(steps), high_sums(before));
    hn::Store(hn::Or(high, hn::Load(d16, behind + half)), d16, sums + half);
#endif
  }
}

/// Adds up the paths through a pixel for a vector of planes: the path along the row, `along`, and those from
/// the row above.
template <PathSums kSums, bool kDiagonals, class V, class Sum>
HWY_INLINE void take_paths(V along, V cost, PathVector<V> path1, PathVector<V> path2, PathVector<V> path3,
                           Sum* other, const std::uint16_t* behind, std::uint16_t* sums, std::ptrdiff_t k) {
  if constexpr (sizeof(Sum) == 1) {
    V steps = hn::Add(hn::Sub(along, cost), path1.step);
    if constexpr (kDiagonals) steps = hn::Add(steps, hn::Add(path2.step, path3.step));
    take_steps<kSums, kDiagonals>(steps, cost, other, behind, sums, k);
  } else {
    auto low = hn::Add(low_sums(along), low_sums(path1.cost));
    if constexpr (kDiagonals) low = hn::Add(low, hn::Add(low_sums(path2.cost), low_sums(path3.cost)));
    take_sums<kSums>(low, other, behind, sums, k);
    using D = hn::DFromV<V>;
    if constexpr (sizeof(hn::TFromD<D>) == 1 && HWY_TARGET != HWY_SCALAR) {
      auto high = hn::Add(high_sums(along), high_sums(path1.cost));
      if constexpr (kDiagonals) high = hn::Add(high, hn::Add(high_sums(path2.cost), high_sums(path3.cost)));
      take_sums<kSums>(high, other, behind, sums, k + static_cast<std::ptrdiff_t>(hn::Lanes(D())) / 2);
    }
  }
}

/// Finds the winner of a pixel from its sums.
template <class T>
HWY_INLINE PathWinner winner_of(const PathPass<T>& pass, const std::uint16_t* sums) {
  const SumTag d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto min_sums = hn::Set(d, kNoSum), min_plane = min_sums;
  for (std::ptrdiff_t k = 0; k < pass.padded; k += lanes) {
    const auto sum = hn::Load(d, sums + k);
    min_plane = hn::IfThenElse(hn::Lt(sum, min_sums), hn::Iota(d, static_cast<std::uint16_t>(k)), min_plane);
    min_sums = hn::Min(min_sums, sum);
  }
  PathWinner winner;
  winner.cost = min_lane(d, min_sums);
  const auto wins = hn::Eq(min_sums, hn::Set(d, winner.cost));
  winner.plane = min_lane(d, hn::IfThenElse(wins, min_plane, hn::Set(d, kNoPlane)));
  winner.before = winner.plane > 0 ? sums[winner.plane - 1] : kNoSum;
  winner.after = winner.plane + 1 < pass.planes ? sums[winner.plane + 1] : kNoSum;
  winner.second = kNoSum;
  return winner;
}

/// Removes the winner and its adjacent planes from a pixel's sums.
template <class T>
HWY_INLINE void remove_winner(const PathPass<T>& pass, int plane, std::uint16_t* sums) {
  for (int k = std::max(plane - 1, 0); k <= std::min(plane + 1, pass.planes - 1); ++k) sums[k] = kNoSum;
}

template <class T>
HWY_INLINE std::uint16_t min_sum(const PathPass<T>& pass, const std::uint16_t* sums) {
  const SumTag d;
  auto min_sums = hn::Load(d, sums);
  for (std::ptrdiff_t k = hn::Lanes(d); k < pass.padded; k += hn::Lanes(d))
    min_sums = hn::Min(min_sums, hn::Load(d, sums + k));
  return min_lane(d, min_sums);
}

/// Updates the min sums of the right pixels with the sums of left pixel x.
template <class T>
HWY_INLINE void offer_right(const PathPass<T>& pass, PathRow<T>& row, int x, const std::uint16_t* sums) {
  const SumTag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  // 0 <= x - min - k < width
  const int begin = std::clamp(x - pass.min_disparity - pass.width + 1, 0, pass.planes);
  const int end = std::clamp(x - pass.min_disparity + 1, begin, pass.planes);
  if (begin == end) return;
  const std::ptrdiff_t base = std::ptrdiff_t{pass.width} - 1 - x + pass.min_disparity;
  std::uint16_t* min_sums = row.right_sums() + base;
  std::uint16_t* plane = row.right_planes(pass.width) + base;
  for (int k = begin / lanes * lanes; k < end; k += lanes) {
    const auto sum = hn::Load(d, sums + k), before = hn::LoadU(d, min_sums + k);
    const auto better = hn::Lt(sum, before);
    hn::StoreU(hn::Min(sum, before), d, min_sums + k);
    hn::StoreU(hn::IfThenElse(better, hn::Iota(d, static_cast<std::uint16_t>(k)), hn::LoadU(d, plane + k)), d,
               plane + k);
  }
}

/// Finds the winners of columns [begin, end) from their sums. Each step is done for all columns before the
/// next step, for instruction-level parallelism.
template <class T>
HWY_INLINE void find_winners(const PathPass<T>& pass, PathRow<T>& row, int begin, int end,
                             std::uint16_t* all_sums) {
  PathWinner* const winners = row.winners.data();
  const auto sums = [&](int i) { return all_sums + (i - begin) * pass.padded; };
  for (int i = begin; i < end; ++i) winners[pass.x(i)] = winner_of(pass, sums(i));
  for (int i = begin; i < end && pass.right_view; ++i) offer_right(pass, row, pass.x(i), sums(i));
  for (int i = begin; i < end; ++i) remove_winner(pass, winners[pass.x(i)].plane, sums(i));
  for (int i = begin; i < end; ++i) winners[pass.x(i)].second = min_sum(pass, sums(i));
}

/// Advances the path along the row by one step. It is processed first and separately, since each pixel
/// depends on the previous one; lanes are shifted in registers, since an unaligned load of data just stored
/// would stall on the store.
template <class T, bool kOneVector>
HWY_INLINE void step_along(const PathPass<T>& pass, const PathLine<T>& line, T p2,
                           const std::uint8_t* costs) {
  const PathTag<T> d;
  using V = hn::Vec<PathTag<T>>;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const V p1 = hn::Set(d, static_cast<T>(pass.p1)), min_cost = hn::Set(d, *line.min_cost);
  const V farther = hn::SaturatedAdd(min_cost, hn::Set(d, p2));
  V minimum = hn::Set(d, PathSlots<T>::kEnd), before = minimum, same = hn::Load(d, line.path);
  for (std::ptrdiff_t k = 0; k < (kOneVector ? 1 : pass.padded); k += lanes) {
    const V after = kOneVector ? same : hn::Load(d, line.path + k + lanes);
    const V below = hn::Or(moved_up(d, same, before), hn::Load(d, pass.first + k));
    const V above = hn::Or(moved_down(d, same, after), hn::Load(d, pass.last + k));
    const V now = hn::SaturatedAdd(load_costs(d, costs + k, pass.behind + k),
                                   path_steps(same, below, above, p1, min_cost, farther));
    hn::Store(now, d, line.path + k);
    minimum = hn::Min(minimum, now);
    before = same;
    same = after;
  }
  *line.min_cost = min_lane(d, minimum);
}

/// Advances the paths through the pixel at column i by one step; the path along the row is skipped if kSums
/// is kNone.
/// @param other  kStored: receives the sums; kWinner: sums of the other pass
/// @param sums   kWinner: receives the sums of both passes
template <class T, PathSums kSums, bool kDiagonals, bool kOneVector, class Sum>
HWY_INLINE void step_pixel(const PathPass<T>& pass, const PathPixel<T, kDiagonals>& pixel, int i,
                           const std::uint8_t* costs, Sum* other, std::uint16_t* sums) {
  constexpr bool kAlong = kSums != PathSums::kNone;
  using V = hn::Vec<PathTag<T>>;
  const PathTag<T> d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const int back = i > 0 ? -pass.sign : 0, ahead = i < pass.width - 1 ? pass.sign : 0;
  const V p1 = hn::Set(d, static_cast<T>(pass.p1)), end = hn::Set(d, PathSlots<T>::kEnd);
  const V first = hn::Load(d, pass.first);
  const auto before = [&](const PathLine<T>& line) HWY_ATTR { return hn::Set(d, *line.min_cost); };
  const auto farther = [&](V min_cost, const std::uint8_t* greys)
                           HWY_ATTR { return hn::SaturatedAdd(min_cost, hn::Set(d, pixel.p2(pass, greys))); };
  // Not loaded from memory: the element before belongs to a slot just stored, so a load across both would
  // stall.
  const auto first_below = [&](const PathLine<T>& line) HWY_ATTR {
    const V v = hn::Load(d, line.path);
    return hn::Or(moved_up(d, v, v), first);
  };
  V min_cost2 = end, min_cost3 = end, farther2 = end, farther3 = end;
  V below2 = end, below3 = end;
  V minimum1 = end, minimum2 = end, minimum3 = end;
  if constexpr (kAlong)
    step_along<T, kOneVector>(pass, pixel.along, pixel.p2(pass, pixel.grey_here + back), costs);
  const V min_cost1 = before(pixel.straight), farther1 = farther(min_cost1, pixel.grey_above);
  V below1 = first_below(pixel.straight);
  if constexpr (kDiagonals) {
    min_cost2 = before(pixel.forward), farther2 = farther(min_cost2, pixel.grey_above + back);
    min_cost3 = before(pixel.backward), farther3 = farther(min_cost3, pixel.grey_above + ahead);
    below2 = first_below(pixel.forward), below3 = first_below(pixel.backward);
  }
  for (std::ptrdiff_t k = 0; k < (kOneVector ? 1 : pass.padded); k += lanes) {
    const V cost = load_costs(d, costs + k, pass.behind + k);
    const V last = hn::Load(d, pass.last + k);
    PathVector<V> path2{end, end}, path3{end, end};
    const auto path1 = step_path(d, pixel.straight.path + k, cost, p1, min_cost1, farther1, last, below1);
    minimum1 = hn::Min(minimum1, path1.cost);
    if constexpr (kDiagonals) {
      path2 = step_path(d, pixel.forward.path + k, cost, p1, min_cost2, farther2, last, below2);
      path3 = step_path(d, pixel.backward.path + k, cost, p1, min_cost3, farther3, last, below3);
      minimum2 = hn::Min(minimum2, path2.cost);
      minimum3 = hn::Min(minimum3, path3.cost);
    }
    if constexpr (kAlong)
      take_paths<kSums, kDiagonals>(hn::Load(d, pixel.along.path + k), cost, path1, path2, path3, other,
                                    pass.behind_sums, sums, k);
  }
  constexpr unsigned kBits = 8 * sizeof(T);
  const std::uint64_t min_cost = min_lanes(d, minimum1, minimum2, minimum3, end);
  *pixel.straight.min_cost = static_cast<T>(min_cost);
  if constexpr (kDiagonals) {
    *pixel.forward.min_cost = static_cast<T>(min_cost >> kBits);
    *pixel.backward.min_cost = static_cast<T>(min_cost >> (2 * kBits));
  }
}

template <class T, PathSums kSums, bool kDiagonals, bool kOneVector, class Sum>
void step_piece(const PathPass<T>& shared_pass, PathRow<T>& row, PathPiece& piece, int r, int begin, int end,
                const std::uint8_t* row_costs, Sum* row_sums) {
  const PathPass<T> pass = shared_pass;  // a copy cannot alias any store
  PathPixel<T, kDiagonals> pixel(pass, row, r, begin);
  if (begin == 0) pixel.along.begin(pass.planes);
  std::uint16_t* const all_sums = piece.sums.data();
  for (int i = begin; i < end; ++i) {
    const std::ptrdiff_t at = pass.x(i) * pass.padded;
    if (HWY_UNLIKELY(r == 0 || i == 0 || i == pass.width - 1)) pixel.begin_from_above(pass, i, r);
    step_pixel<T, kSums, kDiagonals, kOneVector>(pass, pixel, i, row_costs + at, row_sums + at,
                                                 all_sums + (i - begin) * pass.padded);
    pixel.advance(pass);
  }
  if constexpr (kSums == PathSums::kWinner) find_winners(pass, row, begin, end, all_sums);
}

template <class T, PathSums kSums, class Sum>
void step_piece_with(const PathPass<T>& pass, PathRow<T>& row, PathPiece& piece, int r, int begin, int end,
                     const std::uint8_t* costs, Sum* sums) {
  if constexpr (hn::MaxLanes(PathTag<T>()) == 64) {  // otherwise no row of costs fits a vector
    if (pass.diagonals && pass.padded == static_cast<std::ptrdiff_t>(hn::Lanes(PathTag<T>())))
      return step_piece<T, kSums, true, true>(pass, row, piece, r, begin, end, costs, sums);
  }
  if (pass.diagonals)
    step_piece<T, kSums, true, false>(pass, row, piece, r, begin, end, costs, sums);
  else
    step_piece<T, kSums, false, false>(pass, row, piece, r, begin, end, costs, sums);
}

/// Processes columns [begin, end) of row r of a pass.
template <class T, class Sum>
void pass_pixels(const PathPass<T>& pass, PathRow<T>& row, PathPiece& piece, int r, int begin, int end,
                 const std::uint8_t* costs, Sum* sums) {
  switch (pass.sums) {
    case PathSums::kNone:
      return step_piece_with<T, PathSums::kNone>(pass, row, piece, r, begin, end, costs, sums);
    case PathSums::kStored:
      return step_piece_with<T, PathSums::kStored>(pass, row, piece, r, begin, end, costs, sums);
    default:
      return step_piece_with<T, PathSums::kWinner>(pass, row, piece, r, begin, end, costs, sums);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
