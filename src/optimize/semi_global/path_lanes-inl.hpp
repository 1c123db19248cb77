// Vector operations on path costs and their sums (Highway's per-target inclusion).

#if defined(RECON_OPTIMIZE_PATH_LANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_OPTIMIZE_PATH_LANES_INL_HPP_
#undef RECON_OPTIMIZE_PATH_LANES_INL_HPP_
#else
#define RECON_OPTIMIZE_PATH_LANES_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows of costs and sums are padded to 64 elements, the max vector length.
template <class T>
using PathTag = hn::CappedTag<T, 64>;
using SumTag = PathTag<std::uint16_t>;
using SumVector = hn::Vec<SumTag>;

/// Loads costs in the type of path costs; the padding after the last plane is all ones.
HWY_INLINE auto load_costs(PathTag<std::uint8_t> d, const std::uint8_t* costs, const std::uint8_t*) {
  return hn::Load(d, costs);
}
HWY_INLINE auto load_costs(PathTag<std::uint16_t> d, const std::uint8_t* costs, const std::uint16_t* behind) {
  const hn::Rebind<std::uint8_t, PathTag<std::uint16_t>> d8;
  return hn::Or(hn::PromoteTo(d, hn::Load(d8, costs)), hn::Load(d, behind));
}

/// The lower half of a vector of path costs, promoted to sums; 16-bit path costs are returned whole.
template <class V>
HWY_INLINE SumVector low_sums(V paths) {
  if constexpr (sizeof(hn::TFromV<V>) == 2) {
    return paths;
  } else {
#if HWY_TARGET == HWY_SCALAR
    return hn::PromoteTo(SumTag(), paths);
#else
    const hn::Rebind<std::uint8_t, SumTag> half;
    return hn::PromoteTo(SumTag(), hn::LowerHalf(half, paths));
#endif
  }
}
template <class V>
HWY_INLINE SumVector high_sums(V paths) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(SumTag(), paths);
#else
  const hn::Rebind<std::uint8_t, SumTag> half;
  return hn::PromoteTo(SumTag(), hn::UpperHalf(half, paths));
#endif
}

#if HWY_TARGET == HWY_SCALAR

template <class D, class V = hn::Vec<D>>
HWY_INLINE V moved_up(D, V, V before) {
  return before;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V moved_down(D, V, V after) {
  return after;
}

#else

/// Rotates the 16-byte blocks of a vector up by kBlocks.
template <int kBlocks, class D, class V = hn::Vec<D>>
HWY_INLINE V rotated_blocks(D d, V v) {
  const hn::Repartition<std::uint32_t, D> d32;
  const std::uint32_t lanes = static_cast<std::uint32_t>(hn::Lanes(d32));
  const auto from =
      hn::And(hn::Iota(d32, lanes - static_cast<std::uint32_t>(4 * kBlocks)), hn::Set(d32, lanes - 1));
  return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(d32, v), hn::IndicesFromVec(d32, from)));
}

/// Moves lane i to lane i + 1; lane 0 is the last lane of the previous vector.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V moved_up(D d, V v, V before) {
  constexpr int kRest = 16 - static_cast<int>(sizeof(hn::TFromD<D>));
  const auto first_block = hn::FirstN(d, 16 / sizeof(hn::TFromD<D>));
  const V low = hn::IfThenElse(first_block, rotated_blocks<1>(d, before), rotated_blocks<1>(d, v));
  return hn::CombineShiftRightBytes<kRest>(d, v, low);
}

/// Moves lane i to lane i - 1; the last lane is lane 0 of the next vector.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V moved_down(D d, V v, V after) {
  const auto but_last_block = hn::FirstN(d, hn::Lanes(d) - 16 / sizeof(hn::TFromD<D>));
  const V high = hn::IfThenElse(but_last_block, rotated_blocks<-1>(d, v), rotated_blocks<-1>(d, after));
  return hn::CombineShiftRightBytes<static_cast<int>(sizeof(hn::TFromD<D>))>(d, high, v);
}

#endif

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> min_lane(D d, V v) {
  return hn::GetLane(hn::MinOfLanes(d, v));
}

/// The min lane of each of four vectors, packed from the lowest bits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE std::uint64_t min_lanes(D d, V a, V b, V c, V e) {
  constexpr unsigned kBits = 8 * sizeof(hn::TFromD<D>);
  return min_lane(d, a) | std::uint64_t{min_lane(d, b)} << kBits |
         std::uint64_t{min_lane(d, c)} << (2 * kBits) | std::uint64_t{min_lane(d, e)} << (3 * kBits);
}

#else

/// The minimum over the 16-byte blocks of a vector, lane by lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto fold([[maybe_unused]] D d, V v) {
  if constexpr (sizeof(V) > 16) {
    const hn::Half<D> half;
    return fold(half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> min_lane(D d, V v) {
  const hn::Full128<std::uint16_t> d16;
  auto lanes = hn::BitCast(d16, fold(d, v));
  if constexpr (sizeof(hn::TFromD<D>) == 1)  // the min byte of each pair: 16-bit lanes have an instruction
    lanes = hn::Min(hn::ShiftRight<8>(lanes), hn::And(lanes, hn::Set(d16, 0xFF)));
  return static_cast<hn::TFromD<D>>(hn::GetLane(hn::MinOfLanes(d16, lanes)));
}

/// The min lane of each of four vectors, packed from the lowest bits: pairs of lanes are compared while the
/// vectors are interleaved.
template <class D, class V = hn::Vec<D>>
HWY_INLINE std::uint64_t min_lanes(D d, V a, V b, V c, V e) {
  using T = hn::TFromD<D>;
  const hn::Full128<T> block;
  const hn::RepartitionToWide<decltype(block)> pairs;
  const hn::Full128<std::uint32_t> d32;
  const auto mixed_min = [&](auto tag, auto v, auto w) HWY_ATTR {
    const auto x = hn::BitCast(tag, v), y = hn::BitCast(tag, w);
    return hn::Min(hn::BitCast(block, hn::InterleaveLower(tag, x, y)),
                   hn::BitCast(block, hn::InterleaveUpper(tag, x, y)));
  };
  const auto ab = mixed_min(block, fold(d, a), fold(d, b));
  const auto ce = mixed_min(block, fold(d, c), fold(d, e));
  auto all = mixed_min(pairs, ab, ce);
  all = hn::Min(all, hn::BitCast(block, hn::Shuffle1032(hn::BitCast(d32, all))));
  if constexpr (sizeof(T) == 1)
    all = hn::Min(all, hn::BitCast(block, hn::Shuffle2301(hn::BitCast(d32, all))));
  return hn::GetLane(hn::BitCast(hn::Full128<std::uint64_t>(), all));
}

#endif

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
