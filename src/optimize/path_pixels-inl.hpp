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
#include <cstdlib>

#include "optimize/path_pass.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows of costs and sums are padded to 64 elements, so no vector may have more.
template <class T>
using PathTag = hn::CappedTag<T, 64>;
using SumTag = PathTag<std::uint16_t>;
using SumVector = hn::Vec<SumTag>;

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> least_lane(D d, V v) {
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
  return hn::GetLane(hn::MinOfLanes(d, v));
#else
  if constexpr (sizeof(v) > 16) {
    const hn::Half<D> half;
    return least_lane(half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else if constexpr (sizeof(hn::TFromD<D>) == 1) {
    const hn::Repartition<std::uint16_t, D> d16;
    const auto pairs = hn::BitCast(d16, v);
    const auto least = hn::Min(hn::And(pairs, hn::Set(d16, 255)), hn::ShiftRight<8>(pairs));
    return static_cast<std::uint8_t>(hn::GetLane(hn::MinOfLanes(d16, least)));
  } else {
    return hn::GetLane(hn::MinOfLanes(d, v));
  }
#endif
}

/// Costs as wide as path costs; those behind the last plane are all ones.
HWY_INLINE auto load_costs(PathTag<std::uint8_t> d, const std::uint8_t* costs, const std::uint8_t*) {
  return hn::Load(d, costs);
}
HWY_INLINE auto load_costs(PathTag<std::uint16_t> d, const std::uint8_t* costs, const std::uint16_t* behind) {
  const hn::Rebind<std::uint8_t, PathTag<std::uint16_t>> d8;
  return hn::Or(hn::PromoteTo(d, hn::Load(d8, costs)), hn::Load(d, behind));
}

HWY_INLINE SumVector load_sums(const std::uint8_t* path) {
  const hn::Rebind<std::uint8_t, SumTag> d8;
  return hn::PromoteTo(SumTag(), hn::Load(d8, path));
}
HWY_INLINE SumVector load_sums(const std::uint16_t* path) {
  return hn::Load(SumTag(), path);
}

/// Takes the path in a slot one step further; see path_cost. Saturated sums are larger than any path cost.
template <class T>
HWY_INLINE void step_path(const PathPass<T>& pass, PathSlots<T>& slots, int slot, const std::uint8_t* costs,
                          int p2) {
  const PathTag<T> d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  T* path = slots.costs(slot);
  const T least_before = slots.least(slot);
  const auto p1 = hn::Set(d, static_cast<T>(pass.p1));
  const auto least = hn::Set(d, least_before);
  const auto farther = hn::Set(d, static_cast<T>(std::min<int>(least_before + p2, PathSlots<T>::kEnd)));
  auto minimum = hn::Set(d, PathSlots<T>::kEnd);
  auto below = hn::LoadU(d, path - 1);
  for (std::ptrdiff_t k = 0; k < pass.padded; k += lanes) {
    const auto same = hn::Load(d, path + k);
    const auto above = hn::LoadU(d, path + k + 1);
    const auto next_below = hn::LoadU(d, path + k + lanes - 1);
    const auto near = hn::SaturatedAdd(hn::Min(below, above), p1);
    const auto best = hn::Min(near, hn::Min(same, farther));
    const auto cost = load_costs(d, costs + k, pass.behind + k);
    const auto now = hn::SaturatedAdd(cost, hn::Sub(best, least));
    hn::Store(now, d, path + k);
    minimum = hn::Min(minimum, now);
    below = next_below;
  }
  slots.least(slot) = least_lane(d, minimum);
}

/// The sum over the pass's paths at one pixel, in pieces.
template <class T, bool kDiagonals>
struct PassSum {
  const T *along, *straight, *forward, *backward;

  HWY_INLINE SumVector at(std::ptrdiff_t k) const {
    const SumVector two = hn::Add(load_sums(along + k), load_sums(straight + k));
    if constexpr (!kDiagonals) return two;
    return hn::Add(two, hn::Add(load_sums(forward + k), load_sums(backward + k)));
  }
};

/// Offers the sums of left pixel x to the right image's pixels that it may match.
template <class T>
HWY_INLINE void offer_right(const PathPass<T>& pass, PathWorker<T>& worker, int x,
                            const std::uint16_t* sums) {
  const SumTag d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  // 0 <= x - min - k < width
  const int begin = std::clamp(x - pass.min_disparity - pass.width + 1, 0, pass.planes);
  const int end = std::clamp(x - pass.min_disparity + 1, begin, pass.planes);
  if (begin == end) return;
  const std::ptrdiff_t base = std::ptrdiff_t{pass.width} - 1 - x + pass.min_disparity;
  std::uint16_t* least = worker.right_sums() + base;
  std::uint16_t* plane = worker.right_planes(pass.width) + base;
  for (int k = begin / lanes * lanes; k < end; k += lanes) {
    const auto sum = hn::Load(d, sums + k), before = hn::LoadU(d, least + k);
    const auto better = hn::Lt(sum, before);
    hn::StoreU(hn::Min(sum, before), d, least + k);
    hn::StoreU(hn::IfThenElse(better, hn::Iota(d, static_cast<std::uint16_t>(k)), hn::LoadU(d, plane + k)), d,
               plane + k);
  }
}

/// Winner of one pixel, of which `sums` has the sums of the other pass.
template <class T, class Sum>
HWY_INLINE PathWinner find_winner(const PathPass<T>& pass, const std::uint16_t* other, const Sum& sum,
                                  const std::uint16_t* behind, std::uint16_t* sums) {
  const SumTag d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto least = hn::Set(d, kNoSum), least_plane = least;
  for (std::ptrdiff_t k = 0; k < pass.padded; k += lanes) {
    const auto s = hn::Or(hn::Add(hn::Load(d, other + k), sum.at(k)), hn::Load(d, behind + k));
    hn::Store(s, d, sums + k);
    least_plane = hn::IfThenElse(hn::Lt(s, least), hn::Iota(d, static_cast<std::uint16_t>(k)), least_plane);
    least = hn::Min(least, s);
  }
  PathWinner winner;
  winner.cost = least_lane(d, least);
  const auto wins = hn::Eq(least, hn::Set(d, winner.cost));
  winner.plane = least_lane(d, hn::IfThenElse(wins, least_plane, hn::Set(d, kNoPlane)));
  auto second = hn::Set(d, kNoSum);
  const auto first_adjacent = hn::Set(d, static_cast<std::uint16_t>(winner.plane - 1));
  for (std::ptrdiff_t k = 0; k < pass.padded; k += lanes) {
    const auto place = hn::Sub(hn::Iota(d, static_cast<std::uint16_t>(k)), first_adjacent);
    const auto adjacent = hn::VecFromMask(d, hn::Lt(place, hn::Set(d, 3)));
    second = hn::Min(second, hn::Or(hn::Load(d, sums + k), adjacent));
  }
  winner.second = least_lane(d, second);
  winner.before = winner.plane > 0 ? sums[winner.plane - 1] : kNoSum;
  winner.after = winner.plane + 1 < pass.planes ? sums[winner.plane + 1] : kNoSum;
  return winner;
}

/// Steps of the paths through the pixel at column i of row r.
template <class T, bool kDiagonals>
HWY_INLINE PassSum<T, kDiagonals> step_pixel(const PathPass<T>& pass, PathWorker<T>& worker, int i, int r,
                                             const std::uint8_t* costs) {
  PathFront<T>& front = *pass.front;
  const int x = pass.x(i), y = pass.y(r), s = pass.sign;
  const int grey = pass.guide(x, y);
  const auto p2 = [&](const std::uint8_t* row, int px) HWY_ATTR { return pass.p2[std::abs(grey - row[px])]; };
  const std::uint8_t* here = pass.guide.row(y);
  const std::uint8_t* above = r == 0 ? here : pass.guide.row(y - s);
  const bool first = i == 0, last = i == pass.width - 1;
  if (pass.sums != PathSums::kNone) {
    if (first) worker.along.begin_path(0);
    step_path(pass, worker.along, 0, costs, p2(here, first ? x : x - s));
  }
  if (r == 0) front.straight.begin_path(i);
  step_path(pass, front.straight, i, costs, p2(above, x));
  if constexpr (!kDiagonals) return {worker.along.costs(0), front.straight.costs(i), nullptr, nullptr};
  const int forward = front.forward_slot(i, r), backward = front.backward_slot(i, r);
  if (first || r == 0) front.forward.begin_path(forward);
  step_path(pass, front.forward, forward, costs, p2(above, first ? x : x - s));
  if (last || r == 0) front.backward.begin_path(backward);
  step_path(pass, front.backward, backward, costs, p2(above, last ? x : x + s));
  return {worker.along.costs(0), front.straight.costs(i), front.forward.costs(forward),
          front.backward.costs(backward)};
}

template <class T, bool kDiagonals>
void pass_pixels(const PathPass<T>& pass, PathWorker<T>& worker, int r, int begin, int end,
                 const std::uint8_t* costs, std::uint16_t* row_sums) {
  const SumTag d;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (int i = begin; i < end; ++i) {
    const int x = pass.x(i);
    const auto sum = step_pixel<T, kDiagonals>(pass, worker, i, r, costs + x * pass.padded);
    std::uint16_t* sums = row_sums + x * pass.padded;
    if (pass.sums == PathSums::kStored) {
      for (std::ptrdiff_t k = 0; k < pass.padded; k += lanes) hn::Store(sum.at(k), d, sums + k);
    } else if (pass.sums == PathSums::kWinner) {
      worker.winners.data()[x] = find_winner(pass, sums, sum, pass.behind_sums, worker.sums.data());
      if (pass.right_view) offer_right(pass, worker, x, worker.sums.data());
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace recon
HWY_AFTER_NAMESPACE();

#endif
