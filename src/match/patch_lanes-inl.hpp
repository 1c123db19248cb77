// The costs of slanted patches in SIMD, a patch in each lane; compiled once per instruction set (Highway's
// per-target inclusion).

#if defined(RECON_MATCH_PATCH_LANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_MATCH_PATCH_LANES_INL_HPP_
#undef RECON_MATCH_PATCH_LANES_INL_HPP_
#else
#define RECON_MATCH_PATCH_LANES_INL_HPP_
#endif

#include <hwy/highway.h>

#include "match/patch.hpp"
#include "match/sweep_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

using FloatLanes = hn::Vec<F32>;
using IntLanes = hn::Vec<I32>;

/// Lanes of the largest vector, for arrays.
constexpr int kMaxPatchLanes = static_cast<int>(hn::MaxLanes(F32()));

HWY_INLINE int patch_lanes() {
  return static_cast<int>(hn::Lanes(F32()));
}

/// Planes of the pixels of the lanes, see SlantedPlane.
struct PlaneLanes {
  FloatLanes w, wx, wy;
};

/// A source for each lane, see PatchSourceTable.
struct SourceLanes {
  FloatLanes a[9], b[3];
  IntLanes last_column, last_row, pitch, offset;
  const std::uint8_t* base;

  /// Written out for arm64: an implicit one is compiled without the instructions that Highway asks for.
  HWY_INLINE SourceLanes() {}
};

/// The same source for all lanes.
HWY_INLINE SourceLanes one_source(const SourceWarp& warp, const SampledImage& image) {
  const F32 df;
  const I32 di;
  SourceLanes s;
  for (int i = 0; i < 9; ++i) s.a[i] = hn::Set(df, warp.a[i]);
  for (int i = 0; i < 3; ++i) s.b[i] = hn::Set(df, warp.b[i]);
  s.last_column = hn::Set(di, image.width() - 1), s.last_row = hn::Set(di, image.height() - 1);
  s.pitch = hn::Set(di, static_cast<int>(image.pitch())), s.offset = hn::Zero(di);
  s.base = reinterpret_cast<const std::uint8_t*>(image.data());
  return s;
}

/// A source from a table for each lane; those of the table must be near.
HWY_INLINE SourceLanes sources_of(const PatchSourceTable& table, IntLanes index) {
  const F32 df;
  const I32 di;
  SourceLanes s;
  for (int i = 0; i < 9; ++i) s.a[i] = hn::GatherIndex(df, table.a[i], index);
  for (int i = 0; i < 3; ++i) s.b[i] = hn::GatherIndex(df, table.b[i], index);
  s.last_column = hn::GatherIndex(di, table.last_column, index);
  s.last_row = hn::GatherIndex(di, table.last_row, index);
  s.pitch = hn::GatherIndex(di, table.pitch, index), s.offset = hn::GatherIndex(di, table.offset, index);
  s.base = table.base;
  return s;
}

/// Which lane holds the pixel of a lane.
using PixelLanes = decltype(hn::IndicesFromVec(I32(), hn::Zero(I32())));

HWY_INLINE IntLanes looked_up(IntLanes values, PixelLanes pixels) {
  return hn::TableLookupLanes(values, pixels);
}
HWY_INLINE FloatLanes looked_up(FloatLanes values, PixelLanes pixels) {
  return hn::BitCast(F32(), hn::TableLookupLanes(hn::BitCast(I32(), values), pixels));
}
/// The sources of other lanes.
HWY_INLINE SourceLanes looked_up(const SourceLanes& sources, PixelLanes pixels) {
  SourceLanes s;
  for (int i = 0; i < 9; ++i) s.a[i] = looked_up(sources.a[i], pixels);
  for (int i = 0; i < 3; ++i) s.b[i] = looked_up(sources.b[i], pixels);
  s.last_column = looked_up(sources.last_column, pixels);
  s.last_row = looked_up(sources.last_row, pixels);
  s.pitch = looked_up(sources.pitch, pixels), s.offset = looked_up(sources.offset, pixels);
  s.base = sources.base;
  return s;
}

/// See PatchWarp; all numbers are 0 where a patch is not visible.
struct WarpLanes {
  IntLanes u, v, ux, uy, vx, vy;
  hn::Mask<I32> visible;

  HWY_INLINE WarpLanes() {}  // see SourceLanes
};

/// See patch_warp.
HWY_INLINE WarpLanes warp_lanes(const SourceLanes& s, FloatLanes fx, FloatLanes fy, const PlaneLanes& plane,
                                int radius) {
  const F32 df;
  const I32 di;
  const auto plus = [](FloatLanes a, FloatLanes b, FloatLanes c)
                        HWY_ATTR { return hn::Add(a, hn::Mul(b, c)); };
  const auto numerator = [&](int row) HWY_ATTR {
    const FloatLanes b = hn::Add(hn::Mul(s.a[3 * row + 1], fy), plus(s.a[3 * row + 2], s.b[row], plane.w));
    return hn::Add(hn::Mul(s.a[3 * row], fx), b);
  };
  const FloatLanes depth_ratio = numerator(2), one = hn::Set(df, 1.0f);
  const auto in_front = hn::Gt(depth_ratio, hn::Set(df, kMinDepthRatio));
  const FloatLanes inverse = hn::Div(one, hn::IfThenElse(in_front, depth_ratio, one));
  const FloatLanes u = hn::Mul(numerator(0), inverse), v = hn::Mul(numerator(1), inverse);
  const auto within = [&](FloatLanes value, IntLanes last) HWY_ATTR {
    const FloatLanes max = hn::ConvertTo(df, hn::ShiftLeft<kSubpixelBits>(last));
    return hn::And(hn::Ge(value, hn::Zero(df)), hn::Le(value, max));
  };
  auto visible = hn::And(in_front, hn::And(within(u, s.last_column), within(v, s.last_row)));
  // Derivatives of the homography at the pixel.
  const FloatLanes zx = plus(s.a[6], plane.wx, s.b[2]), zy = plus(s.a[7], plane.wy, s.b[2]);
  const auto slope = [&](FloatLanes a, FloatLanes w, FloatLanes b, FloatLanes at, FloatLanes z) HWY_ATTR {
    const FloatLanes t = hn::Mul(hn::Sub(plus(a, w, b), hn::Mul(at, z)), inverse);
    visible = hn::And(visible, hn::Lt(hn::Abs(t), hn::Set(df, 2047.0f)));
    const auto magnified =
        plus(hn::Set(df, 32768.5f), t, hn::Set(df, static_cast<float>(1 << kPatchExtraBits)));
    return hn::Sub(hn::ConvertTo(di, magnified), hn::Set(di, 32768));
  };
  WarpLanes warp;
  warp.ux = slope(s.a[0], plane.wx, s.b[0], u, zx), warp.uy = slope(s.a[1], plane.wy, s.b[0], u, zy);
  warp.vx = slope(s.a[3], plane.wx, s.b[1], v, zx), warp.vy = slope(s.a[4], plane.wy, s.b[1], v, zy);
  const auto origin = [&](FloatLanes value) HWY_ATTR {
    const auto magnification = hn::Set(df, static_cast<float>(1 << kPatchExtraBits));
    return hn::ConvertTo(di, hn::Add(hn::Mul(value, magnification), hn::Set(df, 0.5f)));
  };
  warp.u = origin(u), warp.v = origin(v);
  const auto reaches = [&](IntLanes at, IntLanes by_x, IntLanes by_y, IntLanes last) HWY_ATTR {
    const auto reach = hn::Mul(hn::Set(di, radius), hn::Add(hn::Abs(by_x), hn::Abs(by_y)));
    const auto max = hn::ShiftLeft<kSubpixelBits + kPatchExtraBits>(last);
    const auto margin = hn::Min(hn::Sub(at, reach), hn::Sub(max, hn::Add(at, reach)));
    return hn::Gt(margin, hn::Set(di, -1));
  };
  warp.visible =
      hn::And(hn::RebindMask(di, visible), hn::And(reaches(warp.u, warp.ux, warp.uy, s.last_column),
                                                   reaches(warp.v, warp.vx, warp.vy, s.last_row)));
  for (IntLanes* it : {&warp.u, &warp.v, &warp.ux, &warp.uy, &warp.vx, &warp.vy})
    *it = hn::IfThenElseZero(warp.visible, *it);
  return warp;
}

/// a b - c d, rounded once. Products and differences are below 2^53.
HWY_INLINE FloatLanes product_difference(IntLanes a, IntLanes b, IntLanes c, IntLanes d) {
  const F32 df;
#if HWY_TARGET == HWY_SCALAR
  const auto product = [](IntLanes p, IntLanes q) { return std::int64_t{p.raw} * q.raw; };
  return hn::Set(df, static_cast<float>(product(a, b) - product(c, d)));
#else
  const hn::Repartition<double, F32> dd;
  const hn::Half<I32> half;
  const auto low = [&](IntLanes v) HWY_ATTR { return hn::PromoteTo(dd, hn::LowerHalf(half, v)); };
  const auto high = [&](IntLanes v) HWY_ATTR { return hn::PromoteTo(dd, hn::UpperHalf(half, v)); };
  const auto difference = [&](const auto& part) HWY_ATTR {
    const auto exact = hn::Sub(hn::Mul(part(a), part(b)), hn::Mul(part(c), part(d)));
    return hn::DemoteTo(hn::Half<F32>(), exact);
  };
  return hn::Combine(df, difference(high), difference(low));
#endif
}

/// The patches of pixels of a row, one in each lane.
class PatchLanes {
 public:
  explicit PatchLanes(const PatchWeights& weights) : weights_(weights), radius_(weights.radius()) {}

  /// Loads the patches of the pixels x, x + stride, ... of row y, `stride` 1 or 2. What lies outside the
  /// image has weight 0, also the patches of pixels outside of it.
  void load(ImageView<const std::uint8_t> image, int x, int y, int stride);

  /// The cost of a plane in a source for each lane, see patch_cost; negative where the patch is not visible.
  /// @param pixels  in which lane the pixel of each lane has been loaded
  HWY_INLINE FloatLanes costs(const SourceLanes& sources, const PlaneLanes& planes, PixelLanes pixels) const {
    return costs(sources, planes, [pixels](auto lanes) HWY_ATTR { return looked_up(lanes, pixels); });
  }
  /// The same where the pixel of each lane has been loaded in this lane.
  HWY_INLINE FloatLanes costs(const SourceLanes& sources, const PlaneLanes& planes) const {
    return costs(sources, planes, [](auto lanes) HWY_ATTR { return lanes; });
  }

  /// The sums of the patch of a lane.
  ReferenceSums sums(int lane) const { return {weight_[lane], r_[lane], rr_[lane]}; }

 private:
  /// Weighted sums with the samples, see PatchSums.
  struct Sums {
    IntLanes q, qq, qr;
  };

  template <class At>
  HWY_INLINE FloatLanes costs(const SourceLanes& sources, const PlaneLanes& planes, const At& at) const;
  template <class At>
  HWY_INLINE Sums sums_of(const SourceLanes& sources, const WarpLanes& warp, const At& at) const;
  template <class At>
  HWY_INLINE FloatLanes cost_of(const Sums& sums, const At& at) const;
  HWY_INLINE void load_row(const std::uint8_t* levels, int dy, int stride, bool inner, int width);

  const PatchWeights& weights_;
  int radius_;
  std::int32_t y_ = 0;
  alignas(64) std::int32_t x_[kMaxPatchLanes];
  alignas(64) std::int32_t centre_[kMaxPatchLanes];  ///< levels
  alignas(64) std::int32_t weight_[kMaxPatchLanes];  ///< see ReferenceSums
  alignas(64) std::int32_t r_[kMaxPatchLanes];
  alignas(64) std::int32_t rr_[kMaxPatchLanes];
  /// By (sample, lane): the weight in the low half, the level relative to the centre's in the high one.
  alignas(64) std::int32_t sample_[patch_samples(kMaxPatchRadius) * kMaxPatchLanes];
};

/// The levels of pixels that are `stride` apart.
HWY_INLINE IntLanes levels_at(const std::uint8_t* levels, [[maybe_unused]] int stride) {
  const I32 di;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint8_t, U16Quarter> pairs;
  const U16Quarter d16;
  if (stride == 2)
    return hn::PromoteTo(di, hn::And(hn::BitCast(d16, hn::LoadU(pairs, levels)), hn::Set(d16, 0xFF)));
#endif
  return hn::PromoteTo(di, hn::LoadU(U8Quarter(), levels));
}

void PatchLanes::load(ImageView<const std::uint8_t> image, int x, int y, int stride) {
  const I32 di;
  const int lanes = patch_lanes(), side = 2 * radius_ + 1;
  y_ = y;
  const auto columns = hn::Add(hn::Set(di, x), hn::Mul(hn::Iota(di, 0), hn::Set(di, stride)));
  hn::Store(columns, di, x_);
  for (std::int32_t* sums : {weight_, r_, rr_}) hn::Store(hn::Zero(di), di, sums);
  const int first = x - radius_, count = stride * lanes + 2 * radius_;
  const bool inner = first >= 0 && first + count <= image.width;
  std::uint8_t copied[2 * kMaxPatchLanes + 2 * kMaxPatchRadius];
  const auto row = [&](int j) -> const std::uint8_t* {
    if (inner) return image.row(j) + first;
    for (int i = 0; i < count; ++i) copied[i] = image.contains(first + i, j) ? image(first + i, j) : 0;
    return copied;
  };
  hn::Store(levels_at(row(y) + radius_, stride), di, centre_);
  for (int dy = -radius_; dy <= radius_; ++dy) {
    if (y + dy >= 0 && y + dy < image.height)
      load_row(row(y + dy), dy, stride, inner, image.width);
    else
      std::fill_n(sample_ + (dy + radius_) * side * lanes, side * lanes, 0);
  }
}

void PatchLanes::load_row(const std::uint8_t* levels, int dy, int stride, bool inner, int width) {
  const I32 di;
  const int lanes = patch_lanes(), side = 2 * radius_ + 1;
  const auto centre = hn::Load(di, centre_), columns = hn::Load(di, x_);
  auto weight = hn::Load(di, weight_), r = hn::Load(di, r_), rr = hn::Load(di, rr_);
  for (int i = 0; i < side; ++i) {
    const int k = (dy + radius_) * side + i;
    auto level = hn::Sub(levels_at(levels + i, stride), centre);
    const auto bytes = reinterpret_cast<const std::int32_t*>(weights_.data() + k * 256);
    auto w = hn::And(hn::GatherOffset(di, bytes, hn::Abs(level)), hn::Set(di, 0xFF));
    if (!inner) {
      const auto column = hn::Add(columns, hn::Set(di, i - radius_));
      const auto inside = hn::And(hn::Gt(column, hn::Set(di, -1)), hn::Lt(column, hn::Set(di, width)));
      w = hn::IfThenElseZero(hn::And(inside, hn::Lt(columns, hn::Set(di, width))), w);
      level = hn::IfThenElseZero(inside, level);
    }
    const auto weighted = hn::Mul(w, level);
    weight = hn::Add(weight, w), r = hn::Add(r, weighted), rr = hn::Add(rr, hn::Mul(weighted, level));
    hn::Store(hn::Or(w, hn::ShiftLeft<16>(level)), di, sample_ + k * lanes);
  }
  hn::Store(weight, di, weight_), hn::Store(r, di, r_), hn::Store(rr, di, rr_);
}

template <class At>
HWY_INLINE FloatLanes PatchLanes::costs(const SourceLanes& sources, const PlaneLanes& planes,
                                        const At& at) const {
  const F32 df;
  const FloatLanes fx = hn::ConvertTo(df, at(hn::Load(I32(), x_)));
  const WarpLanes warp = warp_lanes(sources, fx, hn::Set(df, static_cast<float>(y_)), planes, radius_);
  const FloatLanes invisible = hn::Set(df, -1.0f);
  if (hn::AllFalse(I32(), warp.visible)) return invisible;
  return hn::IfThenElse(hn::RebindMask(df, warp.visible), cost_of(sums_of(sources, warp, at), at), invisible);
}

/// See add_sample.
template <class At>
HWY_INLINE PatchLanes::Sums PatchLanes::sums_of(const SourceLanes& sources, const WarpLanes& warp,
                                                const At& at) const {
  const I32 di;
  const int lanes = patch_lanes(), side = 2 * radius_ + 1;
  const auto round = hn::Set(di, 1 << (kPatchExtraBits - 1)), radius = hn::Set(di, radius_);
  const auto corner = [&](IntLanes origin, IntLanes by_x, IntLanes by_y) HWY_ATTR {
    return hn::Sub(hn::Add(origin, round), hn::Mul(radius, hn::Add(by_x, by_y)));
  };
  const auto centre = hn::ShiftLeft<2>(at(hn::Load(di, centre_)));
  const auto low_half = hn::Set(di, 0xFFFF);
  const auto base = reinterpret_cast<const std::int32_t*>(sources.base);
  auto u_row = corner(warp.u, warp.ux, warp.uy), v_row = corner(warp.v, warp.vx, warp.vy);
  Sums sums = {hn::Zero(di), hn::Zero(di), hn::Zero(di)};
  const std::int32_t* sample = sample_;
  for (int j = 0; j < side; ++j) {
    auto u = u_row, v = v_row;
    for (int i = 0; i < side; ++i, sample += lanes) {
      const auto element = hn::Add(hn::Mul(hn::ShiftRight<kSubpixelBits + kPatchExtraBits>(v), sources.pitch),
                                   hn::ShiftRight<kSubpixelBits + kPatchExtraBits>(u));
      const auto quad = hn::GatherOffset(di, base, hn::Add(sources.offset, hn::ShiftLeft<1>(element)));
      const auto level =
          blended<2>(quad, hn::ShiftRight<kPatchExtraBits>(u), hn::ShiftRight<kPatchExtraBits>(v));
      const auto reference = at(hn::Load(di, sample));
      // Only the low halves are multiplied: those above are zero in one of the factors.
      const auto q = hn::And(hn::Sub(level, centre), low_half);
      const auto weighted = multiply_add_pairs(q, reference);
      sums.q = hn::Add(sums.q, weighted);
      sums.qq = hn::Add(sums.qq, multiply_add_pairs(weighted, q));
      sums.qr = hn::Add(
          sums.qr,
          multiply_add_pairs(weighted, hn::BitCast(di, hn::ShiftRight<16>(hn::BitCast(U32(), reference)))));
      u = hn::Add(u, warp.ux), v = hn::Add(v, warp.vx);
    }
    u_row = hn::Add(u_row, warp.uy), v_row = hn::Add(v_row, warp.vy);
  }
  return sums;
}

/// See patch_cost.
template <class At>
HWY_INLINE FloatLanes PatchLanes::cost_of(const Sums& sums, const At& at) const {
  const F32 df;
  const I32 di;
  const auto weight = at(hn::Load(di, weight_)), r = at(hn::Load(di, r_)), rr = at(hn::Load(di, rr_));
  const FloatLanes variance_a = product_difference(weight, rr, r, r);
  const FloatLanes variance_b = product_difference(weight, sums.qq, sums.q, sums.q);
  const FloatLanes covariance = product_difference(weight, sums.qr, sums.q, r);
  const FloatLanes zero = hn::Zero(df), one = hn::Set(df, 1.0f);
  const auto textured = hn::Gt(hn::Min(variance_a, variance_b), zero);
  const FloatLanes variances = hn::IfThenElse(textured, hn::Mul(variance_a, variance_b), one);
  const FloatLanes cost = hn::Sub(one, hn::Mul(covariance, inverse_sqrt_lanes(variances)));
  return hn::IfThenElse(textured, hn::Min(hn::Max(cost, zero), hn::Set(df, 2.0f)), one);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
