// The rows of the CPU sweep in SIMD, compiled once per instruction set (Highway's per-target inclusion).
// Every function may read and write up to kRowSlack elements beyond `count`.

#if defined(RECON_MATCH_SWEEP_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_MATCH_SWEEP_ROWS_INL_HPP_
#undef RECON_MATCH_SWEEP_ROWS_INL_HPP_
#else
#define RECON_MATCH_SWEEP_ROWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "core/half.hpp"
#include "match/combine_step.hpp"
#include "match/cost_step.hpp"
#include "match/cpu_sweep.hpp"
#include "match/warp_step.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U16Quarter = hn::Rebind<std::uint16_t, F32>;
using U8Quarter = hn::Rebind<std::uint8_t, F32>;
using U16 = hn::ScalableTag<std::uint16_t>;
using U8Half = hn::Rebind<std::uint8_t, U16>;

/// a0 b0 + a1 b1 of the two signed 16-bit halves of each 32-bit lane.
template <class VI>
HWY_INLINE VI multiply_add_pairs(VI a, VI b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const I32 di;
  // On x86 this is one instruction (pmaddwd), which adds neighbours and leaves the second sum unchanged.
  const hn::Repartition<std::int16_t, I32> d16;
  auto unused = hn::Zero(di);
  return hn::ReorderWidenMulAccumulate(di, hn::BitCast(d16, a), hn::BitCast(d16, b), hn::Zero(di), unused);
#else
  const auto low = [&](VI v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  return hn::Add(hn::Mul(low(a), low(b)), hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b)));
#endif
}

/// Bilinear samples between four pixels at fixed-point positions u, v (1/256 pixel), rounded to 1/2^kBits of
/// a level, in 32-bit lanes; see `bilinear` in warp_step.hpp and `quarter_bilinear` in patch_step.hpp.
/// @param quad  by bytes: upper left, lower left, upper right, lower right
template <int kBits, class VI>
HWY_INLINE VI blended(VI quad, VI u, VI v) {
  const I32 di;
  const auto fraction = hn::Set(di, kSubpixels - 1);
  const auto whole = hn::Set(di, kSubpixels);
  // 16-bit halves: the left and right pixels of the upper row, then of the lower row.
  const auto low_bytes = hn::Set(di, 0x00FF00FF);
  const auto upper = hn::And(quad, low_bytes);
  const auto lower = hn::And(hn::ShiftRight<8>(quad), low_bytes);
  const auto fu = hn::And(u, fraction);
  const auto fv = hn::And(v, fraction);
  const auto weights_u = hn::Add(hn::Sub(whole, fu), hn::ShiftLeft<16>(fu));
  const auto weights_v = hn::Add(hn::Sub(whole, fv), hn::ShiftLeft<16>(fv));
  // Both rows as signed halves: 0..65280 minus 32768.
  const auto top = multiply_add_pairs(upper, weights_u);
  const auto bottom = multiply_add_pairs(lower, weights_u);
  const auto rows =
      hn::Xor(hn::Add(top, hn::ShiftLeft<16>(bottom)), hn::Set(di, static_cast<int>(0x80008000u)));
  constexpr int kShift = 16 - kBits;
  return hn::ShiftRight<kShift>(
      hn::Add(multiply_add_pairs(rows, weights_v), hn::Set(di, (kSubpixels << 15) + (1 << (kShift - 1)))));
}

/// Bilinear samples of an image, see `blended`.
template <class VI>
HWY_INLINE VI sample(const SampledImage& source, VI u, VI v) {
  const I32 di;
  const auto pitch = hn::Set(di, static_cast<int>(source.pitch()));
  const auto row = hn::Mul(hn::ShiftRight<kSubpixelBits>(v), pitch);
  const auto element = hn::Add(row, hn::ShiftRight<kSubpixelBits>(u));
  const auto quad =
      hn::GatherOffset(di, reinterpret_cast<const int*>(source.data()), hn::ShiftLeft<1>(element));
  return blended<0>(quad, u, v);
}

/// Whether all reference indices first .. last of a row project into the source, at least a pixel from its
/// border. Positions along a row are monotonic, so testing both ends suffices.
inline bool lands_inside(const RowWarp& warp, const SampledImage& source, int first, int last) {
  for (const int x : {first, last}) {
    const float depth_ratio = warp.aw * static_cast<float>(x) + warp.bw;
    if (!(depth_ratio > 2.0f * kMinDepthRatio)) return false;
    const float u = (warp.ax * static_cast<float>(x) + warp.bx) / depth_ratio;
    const float v = (warp.ay * static_cast<float>(x) + warp.by) / depth_ratio;
    if (!(u >= kSubpixels && u <= static_cast<float>((source.width() - 2) * kSubpixels))) return false;
    if (!(v >= kSubpixels && v <= static_cast<float>((source.height() - 2) * kSubpixels))) return false;
  }
  return true;
}

/// The nearest integer, ties to even, of 0 <= x < 2^22: rounded as in `sample_position`.
template <class V>
HWY_INLINE hn::Vec<I32> nearest_integer(V x) {
  const F32 df;
  const I32 di;
  const auto magic = hn::Set(df, 12582912.0f);
  return hn::Sub(hn::BitCast(di, hn::Add(x, magic)), hn::BitCast(di, magic));
}

/// Warps source pixels to reference indices x_begin .. x_begin + count - 1 of a row; `seen` is 255 where the
/// sample lies inside the source, else 0. Performs the operations of `sample_position` in warp_step.hpp. Lane
/// i of the k-th of four vectors is pixel 4 i + k, so that their bytes are combined into one store.
/// @tparam kInside  the whole row, up to the end of the last store, projects into the source: no clamping
template <bool kInside>
HWY_INLINE void warp_row(const RowWarp& warp, const SampledImage& source, int x_begin, int count,
                         std::uint8_t* HWY_RESTRICT pixels, std::uint8_t* HWY_RESTRICT seen) {
  const F32 df;
  const I32 di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto zero = hn::Zero(df);
  const auto one = hn::Set(df, 1.0f);
  const auto u_max = hn::Set(df, static_cast<float>((source.width() - 1) * kSubpixels));
  const auto v_max = hn::Set(df, static_cast<float>((source.height() - 1) * kSubpixels));
  const auto ax = hn::Set(df, warp.ax), bx = hn::Set(df, warp.bx);
  const auto ay = hn::Set(df, warp.ay), by = hn::Set(df, warp.by);
  const auto aw = hn::Set(df, warp.aw), bw = hn::Set(df, warp.bw);
  const auto every_fourth = hn::Mul(hn::Iota(df, 0.0f), hn::Set(df, 4.0f));
  for (int i = 0; i < count; i += 4 * lanes) {
    auto bytes = hn::Zero(di);
    auto flags = hn::Zero(di);
    const auto warp_fourth = [&](auto shift) HWY_ATTR {
      const auto x = hn::Add(every_fourth, hn::Set(df, static_cast<float>(x_begin + i + shift / 8)));
      const auto depth_ratio = hn::Add(hn::Mul(aw, x), bw);
      const auto in_front = hn::Gt(depth_ratio, hn::Set(df, kMinDepthRatio));
      const auto inverse = hn::Div(one, kInside ? depth_ratio : hn::IfThenElse(in_front, depth_ratio, one));
      auto u = hn::Mul(hn::Add(hn::Mul(ax, x), bx), inverse);
      auto v = hn::Mul(hn::Add(hn::Mul(ay, x), by), inverse);
      if constexpr (!kInside) {
        const auto uc = hn::Min(hn::Max(u, zero), u_max);
        const auto vc = hn::Min(hn::Max(v, zero), v_max);
        const auto inside = hn::And(in_front, hn::And(hn::Eq(u, uc), hn::Eq(v, vc)));
        flags = hn::Or(flags, hn::IfThenElseZero(hn::RebindMask(di, inside), hn::Set(di, 255 << shift)));
        u = uc, v = vc;
      }
      const auto value = sample(source, nearest_integer(u), nearest_integer(v));
      bytes = hn::Or(bytes, hn::ShiftLeft<shift>(value));
    };
    warp_fourth(std::integral_constant<int, 0>());
    warp_fourth(std::integral_constant<int, 8>());
    warp_fourth(std::integral_constant<int, 16>());
    warp_fourth(std::integral_constant<int, 24>());
    hn::StoreU(bytes, di, reinterpret_cast<int*>(pixels + i));
    hn::StoreU(kInside ? hn::Set(di, -1) : flags, di, reinterpret_cast<int*>(seen + i));
  }
}

/// `warp_row` with the kInside that the row allows.
HWY_INLINE void warp_any_row(const RowWarp& warp, const SampledImage& source, int x_begin, int count,
                             std::uint8_t* HWY_RESTRICT pixels, std::uint8_t* HWY_RESTRICT seen) {
  const int step = 4 * static_cast<int>(hn::Lanes(F32()));
  const int last = x_begin + (count + step - 1) / step * step - 1;
  if (lands_inside(warp, source, x_begin, last))
    warp_row<true>(warp, source, x_begin, count, pixels, seen);
  else
    warp_row<false>(warp, source, x_begin, count, pixels, seen);
}

/// difference[i] = |a[i] - b[i]|; column[i] += difference[i] - leaving[i].
HWY_INLINE void update_sad_columns(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b,
                                   const std::uint8_t* HWY_RESTRICT leaving, int count,
                                   std::uint8_t* HWY_RESTRICT difference,
                                   std::uint16_t* HWY_RESTRICT column) {
  const U16 d16;
  const U8Half d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  for (int i = 0; i < count; i += lanes) {
    const auto va = hn::LoadU(d8, a + i);
    const auto vb = hn::LoadU(d8, b + i);
    const auto ad = hn::Or(hn::SaturatedSub(va, vb), hn::SaturatedSub(vb, va));
    hn::StoreU(ad, d8, difference + i);
    const auto change = hn::Sub(hn::PromoteTo(d16, ad), hn::PromoteTo(d16, hn::LoadU(d8, leaving + i)));
    hn::StoreU(hn::Add(hn::LoadU(d16, column + i), change), d16, column + i);
  }
}

/// The column sums that ZNCC needs of the warped source b and the reference a.
struct ZnccColumns {
  std::uint32_t* b;
  std::uint32_t* bb;
  std::uint32_t* ab;
};

/// Adds a row (a, b) to the column sums and subtracts the row that leaves the window.
HWY_INLINE void update_zncc_columns(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b,
                                    const std::uint8_t* HWY_RESTRICT leaving_a,
                                    const std::uint8_t* HWY_RESTRICT leaving_b, int count,
                                    const ZnccColumns& columns) {
  const U16Quarter d16;
  const U32 du;
  const U8Quarter d8;
  const int lanes = static_cast<int>(hn::Lanes(du));
  const auto change = [&](std::uint32_t* HWY_RESTRICT column, auto added, auto taken) HWY_ATTR {
    const auto difference = hn::Sub(hn::PromoteTo(du, added), hn::PromoteTo(du, taken));
    hn::StoreU(hn::Add(hn::LoadU(du, column), difference), du, column);
  };
  for (int i = 0; i < count; i += lanes) {
    const auto na = hn::PromoteTo(d16, hn::LoadU(d8, a + i));
    const auto nb = hn::PromoteTo(d16, hn::LoadU(d8, b + i));
    const auto oa = hn::PromoteTo(d16, hn::LoadU(d8, leaving_a + i));
    const auto ob = hn::PromoteTo(d16, hn::LoadU(d8, leaving_b + i));
    change(columns.b + i, nb, ob);
    change(columns.bb + i, hn::Mul(nb, nb), hn::Mul(ob, ob));
    change(columns.ab + i, hn::Mul(na, nb), hn::Mul(oa, ob));
  }
}

/// The sum of 2 R + 1 consecutive elements from `column`.
template <int R, class D>
HWY_INLINE hn::Vec<D> window_sum(D d, const hn::TFromD<D>* column) {
  auto sum = hn::LoadU(d, column);
  for (int k = 1; k <= 2 * R; ++k) sum = hn::Add(sum, hn::LoadU(d, column + k));
  return sum;
}

/// sums[i] (+)= the window sum of `column` from i on.
template <int R>
HWY_INLINE void sad_sums(const std::uint16_t* HWY_RESTRICT column, int count, bool first,
                         std::uint32_t* HWY_RESTRICT sums) {
  const U16 d16;
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < count; ++i)
    sums[i] = hn::GetLane(window_sum<R>(d16, column + i)) + (first ? 0u : sums[i]);
#else
  const hn::Half<U16> d16half;
  const U32 du;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  for (int i = 0; i < count; i += lanes) {
    const auto sum = window_sum<R>(d16, column + i);
    auto low = hn::PromoteTo(du, hn::LowerHalf(d16half, sum));
    auto high = hn::PromoteTo(du, hn::UpperHalf(d16half, sum));
    if (!first) {
      low = hn::Add(low, hn::LoadU(du, sums + i));
      high = hn::Add(high, hn::LoadU(du, sums + i + lanes / 2));
    }
    hn::StoreU(low, du, sums + i);
    hn::StoreU(high, du, sums + i + lanes / 2);
  }
#endif
}

/// cost[i] = sad_cost(sums[i], inverse_count), infinite where not seen.
HWY_INLINE void sad_costs(const std::uint32_t* HWY_RESTRICT sums, const std::uint8_t* HWY_RESTRICT seen,
                          int count, float inverse_count, float* HWY_RESTRICT cost) {
  const F32 df;
  const I32 di;
  const U8Quarter d8;
  const auto scale = hn::Set(df, inverse_count);
  const auto invalid = hn::Set(df, invalid_cost());
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    const auto sum = hn::ConvertTo(df, hn::BitCast(di, hn::LoadU(U32(), sums + i)));
    const auto is_seen = hn::Gt(hn::PromoteTo(di, hn::LoadU(d8, seen + i)), hn::Zero(di));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(df, is_seen), hn::Mul(sum, scale), invalid), df, cost + i);
  }
}

/// `inverse_sqrt` of cost_step.hpp.
template <class V>
HWY_INLINE V inverse_sqrt_lanes(V x) {
  const F32 df;
  const U32 du;
  const auto guess = hn::Sub(hn::Set(du, 0x5F375A86u), hn::ShiftRight<1>(hn::BitCast(du, x)));
  auto y = hn::BitCast(df, guess);
  const auto half_x = hn::Mul(hn::Set(df, 0.5f), x);
  for (int step = 0; step < 3; ++step)
    y = hn::Mul(y, hn::Sub(hn::Set(df, 1.5f), hn::Mul(hn::Mul(half_x, y), y)));
  return y;
}

/// cost[i] = zncc_cost of the windows that start at column i, infinite where not seen.
/// @param sum_a, variance_a  of the reference window, scaled as in cost_step.hpp
template <int R>
HWY_INLINE void zncc_costs(const ZnccColumns& columns, const std::uint32_t* HWY_RESTRICT sum_a,
                           const std::int32_t* HWY_RESTRICT variance_a, const std::uint8_t* HWY_RESTRICT seen,
                           int count, float* HWY_RESTRICT cost) {
  const F32 df;
  const I32 di;
  const U32 du;
  const U8Quarter d8;
  const auto n = hn::Set(du, static_cast<std::uint32_t>((2 * R + 1) * (2 * R + 1)));
  const auto one = hn::Set(df, 1.0f);
  const auto invalid = hn::Set(df, invalid_cost());
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    const auto sb = window_sum<R>(du, columns.b + i);
    const auto sbb = window_sum<R>(du, columns.bb + i);
    const auto sab = window_sum<R>(du, columns.ab + i);
    const auto sa = hn::LoadU(du, sum_a + i);
    const auto va = hn::LoadU(di, variance_a + i);
    const auto vb = hn::BitCast(di, hn::Sub(hn::Mul(n, sbb), hn::Mul(sb, sb)));
    const auto covariance = hn::BitCast(di, hn::Sub(hn::Mul(n, sab), hn::Mul(sa, sb)));
    const auto textured = hn::Gt(hn::Min(va, vb), hn::Zero(di));
    const auto product = hn::Mul(hn::ConvertTo(df, va), hn::ConvertTo(df, vb));
    const auto safe = hn::IfThenElse(hn::RebindMask(df, textured), product, one);
    const auto correlation = hn::Mul(hn::ConvertTo(df, covariance), inverse_sqrt_lanes(safe));
    const auto c =
        hn::IfThenElse(hn::RebindMask(df, textured), hn::Max(hn::Sub(one, correlation), hn::Zero(df)), one);
    const auto is_seen = hn::Gt(hn::PromoteTo(di, hn::LoadU(d8, seen + i)), hn::Zero(di));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(df, is_seen), c, invalid), df, cost + i);
  }
}

/// Updates the K best costs with a row of costs (row k from best + k stride on, ascending); see BestCosts.
HWY_INLINE void offer_best(const float* HWY_RESTRICT cost, int count, float* HWY_RESTRICT best, int k_best,
                           int stride) {
  const F32 df;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    auto c = hn::LoadU(df, cost + i);
    for (int k = 0; k < k_best; ++k) {
      const auto kept = hn::LoadU(df, best + k * stride + i);
      hn::StoreU(hn::Min(c, kept), df, best + k * stride + i);
      c = hn::Max(c, kept);
    }
  }
}

/// Adds a row of costs to the running sum and count of MeanCost.
HWY_INLINE void offer_mean(const float* HWY_RESTRICT cost, int count, float* HWY_RESTRICT sum,
                           float* HWY_RESTRICT number) {
  const F32 df;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    const auto c = hn::LoadU(df, cost + i);
    const auto valid = hn::Lt(c, hn::Set(df, invalid_cost()));
    hn::StoreU(hn::Add(hn::LoadU(df, sum + i), hn::IfThenElseZero(valid, c)), df, sum + i);
    hn::StoreU(hn::Add(hn::LoadU(df, number + i), hn::IfThenElseZero(valid, hn::Set(df, 1.0f))), df,
               number + i);
  }
}

/// `to_half` of core/half.hpp; with the processor's conversion instruction where available, since Highway's
/// emulation rounds differently.
HWY_INLINE void store_half(hn::Vec<F32> value, std::uint16_t* out) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, F32> dh;
  hn::StoreU(hn::BitCast(U16Quarter(), hn::DemoteTo(dh, value)), U16Quarter(), out);
#else
  const F32 df;
  HWY_ALIGN float lanes[hn::MaxLanes(df)];
  hn::Store(value, df, lanes);
  for (std::size_t i = 0; i < hn::Lanes(df); ++i) out[i] = to_half(lanes[i]).bits;
#endif
}

/// The mean of the K best rows as halves; see BestCosts::mean.
HWY_INLINE void store_best(const float* HWY_RESTRICT best, int k_best, int stride, int count,
                           std::uint16_t* HWY_RESTRICT out) {
  const F32 df;
  const auto invalid = hn::Set(df, invalid_cost());
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    auto sum = hn::LoadU(df, best + i);
    auto number = hn::Set(df, 1.0f);
    for (int k = 1; k < k_best; ++k) {
      const auto c = hn::LoadU(df, best + k * stride + i);
      const auto valid = hn::Lt(c, invalid);
      sum = hn::Add(sum, hn::IfThenElseZero(valid, c));
      number = hn::Add(number, hn::IfThenElseZero(valid, hn::Set(df, 1.0f)));
    }
    store_half(k_best == 1 ? sum : hn::Div(sum, number), out + i);
  }
}

/// The mean cost as halves; see MeanCost::mean.
HWY_INLINE void store_mean(const float* HWY_RESTRICT sum, const float* HWY_RESTRICT number, int count,
                           std::uint16_t* HWY_RESTRICT out) {
  const F32 df;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(df))) {
    const auto n = hn::LoadU(df, number + i);
    const auto any = hn::Gt(n, hn::Zero(df));
    const auto mean = hn::Div(hn::LoadU(df, sum + i), hn::IfThenElse(any, n, hn::Set(df, 1.0f)));
    store_half(hn::IfThenElse(any, mean, hn::Set(df, invalid_cost())), out + i);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
