#include "refine/normals.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "refine/normal_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "refine/normals.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_REFINE_NORMALS_ONCE
#define RECON_REFINE_NORMALS_ONCE
namespace recon {

constexpr int kNormalSlack = 64;  ///< elements after a row that a vector may read

/// A row of pixels and the inverse depths around it, NaN where unknown.
struct NormalRow {
  /// Of each row of the window the element kNormalRadius columns before the first pixel; null outside the
  /// image.
  std::array<const double*, 2 * kNormalRadius + 1> inverse_depth{};
  const Pinhole& camera;
  int y;
  Vec3f* normals;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using V64 = hn::Vec<F64>;

/// The affine functions a dx + b dy + c of inverse depth around some pixels.
struct InverseDepthPlanes {
  V64 a, b, c;
  hn::Mask<F64> known;
};

HWY_INLINE V64 number(double value) {
  return hn::Set(F64(), value);
}

/// a b - c d
HWY_INLINE V64 difference(V64 a, V64 b, V64 c, V64 d) {
  return hn::Sub(hn::Mul(a, b), hn::Mul(c, d));
}

/// Moments of the offsets of some pixels of the window, exact. As each is a small whole number, one sum has
/// them all, each in its own bits of a double.
struct OffsetMoments {
  V64 n, x, y, xx, xy, yy;

  static constexpr int kX = 6, kY = 14, kXx = 22, kYy = 30, kXy = 38, kEnd = 47;
  static_assert(kEnd <= 52);

  /// What a pixel adds to the sum. Offsets are counted from the corner of the window.
  static constexpr double term(int dx, int dy) {
    const std::uint64_t x = dx + kNormalRadius, y = dy + kNormalRadius;
    const std::uint64_t xx = dx * dx, yy = dy * dy;
    return static_cast<double>(1 + (x << kX) + (y << kY) + (xx << kXx) + (yy << kYy) + (x * y << kXy));
  }

  HWY_INLINE explicit OffsetMoments(V64 sum) {
    const V64 r = number(kNormalRadius), shifted = hn::Add(sum, number(kMantissa));
    const V64 corner_x = bits<kX, kY>(shifted), corner_y = bits<kY, kXx>(shifted);
    n = bits<0, kX>(shifted);
    x = hn::Sub(corner_x, hn::Mul(r, n)), y = hn::Sub(corner_y, hn::Mul(r, n));
    xx = bits<kXx, kYy>(shifted), yy = bits<kYy, kXy>(shifted);
    const V64 corner_xy = bits<kXy, kEnd>(shifted);
    xy = hn::Sub(hn::Sub(corner_xy, hn::Mul(r, corner_x)), hn::Mul(r, y));
  }

 private:
  static constexpr double kMantissa = 4503599627370496;  ///< 2^52: a number below is in the last bits

  template <int kBegin, int kEndBit>
  static HWY_INLINE V64 bits(V64 shifted) {
    const F64 d;
    const hn::RebindToUnsigned<F64> du;
    const auto field = hn::And(hn::ShiftRight<kBegin>(hn::BitCast(du, shifted)),
                               hn::Set(du, (std::uint64_t{1} << (kEndBit - kBegin)) - 1));
    return hn::Sub(hn::BitCast(d, hn::Or(field, hn::BitCast(du, number(kMantissa)))), number(kMantissa));
  }
};

HWY_INLINE InverseDepthPlanes fit_planes(const NormalRow& row, int x) {
  const F64 d;
  const V64 middle = hn::LoadU(d, row.inverse_depth[kNormalRadius] + x + kNormalRadius);
  const V64 limit = hn::Mul(number(kSameSurface), middle);
  V64 offsets = hn::Zero(d), sw = offsets, sxw = offsets, syw = offsets;
  for (int dy = -kNormalRadius; dy <= kNormalRadius; ++dy) {
    const double* inverse_depth = row.inverse_depth[dy + kNormalRadius];
    if (inverse_depth == nullptr) continue;
    for (int dx = -kNormalRadius; dx <= kNormalRadius; ++dx) {
      const V64 difference = hn::Sub(hn::LoadU(d, inverse_depth + x + dx + kNormalRadius), middle);
      const auto same = hn::Le(hn::Abs(difference), limit);
      const V64 w = hn::IfThenElseZero(same, difference);
      offsets = hn::Add(offsets, hn::IfThenElseZero(same, number(OffsetMoments::term(dx, dy))));
      sw = hn::Add(sw, w), sxw = hn::Add(sxw, hn::Mul(number(dx), w));
      syw = hn::Add(syw, hn::Mul(number(dy), w));
    }
  }
  const OffsetMoments of(offsets);
  const V64 n = of.n, sx = of.x, sy = of.y, sxx = of.xx, sxy = of.xy, syy = of.yy;
  const auto covariance = [&](V64 sum, V64 first, V64 second)
                              HWY_ATTR { return hn::Sub(sum, hn::Div(hn::Mul(first, second), n)); };
  const V64 cxx = covariance(sxx, sx, sx), cxy = covariance(sxy, sx, sy), cyy = covariance(syy, sy, sy);
  const V64 cxw = covariance(sxw, sx, sw), cyw = covariance(syw, sy, sw);
  const V64 determinant = difference(cxx, cyy, cxy, cxy);
  const auto known = hn::And(hn::Ge(n, number(kMinNormalSupport)),
                             hn::Gt(determinant, hn::Mul(hn::Mul(number(1e-6), n), n)));
  const V64 a = hn::Div(difference(cxw, cyy, cyw, cxy), determinant);
  const V64 b = hn::Div(difference(cyw, cxx, cxw, cxy), determinant);
  const V64 mean = hn::Div(hn::Sub(hn::Sub(sw, hn::Mul(a, sx)), hn::Mul(b, sy)), n);
  return {a, b, hn::Add(middle, mean), known};
}

/// The normals of the pixels from column x on.
HWY_INLINE void normals_at(const NormalRow& row, int x, float* normal_x, float* normal_y, float* normal_z) {
  const F64 d;
  const Pinhole& camera = row.camera;
  const InverseDepthPlanes plane = fit_planes(row, x);
  const V64 column = hn::Add(hn::Add(hn::Iota(d, 0), number(x)), number(0.5));
  const V64 from_cx = hn::Sub(column, number(camera.cx)), from_cy = number(row.y + 0.5 - camera.cy);
  // n . X = k and X = ray / w give w = n . ray / k: compare coefficients of the pixel coordinates.
  V64 nx = hn::Mul(plane.a, number(camera.fx)), ny = hn::Mul(plane.b, number(camera.fy));
  V64 nz = hn::Sub(hn::Sub(plane.c, hn::Mul(plane.a, from_cx)), hn::Mul(plane.b, from_cy));
  const V64 ray_x = hn::Div(from_cx, number(camera.fx)), ray_y = hn::Div(from_cy, number(camera.fy));
  const V64 towards = hn::Add(hn::Add(hn::Mul(nx, ray_x), hn::Mul(ny, ray_y)), nz);
  const V64 squares = hn::Add(hn::Add(hn::Mul(nx, nx), hn::Mul(ny, ny)), hn::Mul(nz, nz));
  const V64 length = hn::Div(number(1), hn::Sqrt(squares));
  const V64 scale = hn::IfThenElse(hn::Gt(towards, hn::Zero(d)), hn::Neg(length), length);
  const auto store = [&](V64 coordinate, float* out) HWY_ATTR {
    const V64 unit = hn::IfThenElse(plane.known, hn::Mul(scale, coordinate),
                                    number(std::numeric_limits<double>::quiet_NaN()));
    const hn::Rebind<float, F64> df;
    hn::StoreU(hn::DemoteTo(df, unit), df, out);
  };
  store(nx, normal_x), store(ny, normal_y), store(nz, normal_z);
}

void normals_of_row(const NormalRow& row) {
  constexpr int kBlock = 64;
  const int lanes = static_cast<int>(hn::Lanes(F64()));
  float nx[kBlock], ny[kBlock], nz[kBlock];
  for (int begin = 0; begin < row.camera.width; begin += kBlock) {
    const int count = std::min(kBlock, row.camera.width - begin);
    for (int i = 0; i < count; i += lanes) normals_at(row, begin + i, nx + i, ny + i, nz + i);
    for (int i = 0; i < count; ++i) row.normals[begin + i] = {nx[i], ny[i], nz[i]};
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(normals_of_row);

Image<Vec3f> normals_from_depth(ImageView<const float> depth, const Pinhole& camera) {
  EXPECTS(depth.width == camera.width && depth.height == camera.height);
  constexpr int kBand = 32;  // rows that share their inverse depths
  const auto columns = static_cast<std::size_t>(depth.width + 2 * kNormalRadius + kNormalSlack);
  Image<Vec3f> normals(depth.width, depth.height);
  parallel_for((depth.height + kBand - 1) / kBand, [&](int band) {
    const int begin = band * kBand, end = std::min(begin + kBand, depth.height);
    const int first = std::max(begin - kNormalRadius, 0), last = std::min(end + kNormalRadius, depth.height);
    std::vector<double> inverse(columns * static_cast<std::size_t>(last - first),
                                std::numeric_limits<double>::quiet_NaN());
    const auto row_of = [&](int y) { return inverse.data() + static_cast<std::size_t>(y - first) * columns; };
    for (int y = first; y < last; ++y)
      for (int x = 0; x < depth.width; ++x)
        row_of(y)[x + kNormalRadius] = 1.0 / static_cast<double>(depth(x, y));
    for (int y = begin; y < end; ++y) {
      NormalRow row{{}, camera, y, normals.row(y)};
      for (int j = std::max(y - kNormalRadius, first); j < std::min(y + kNormalRadius + 1, last); ++j)
        row.inverse_depth[j - y + kNormalRadius] = row_of(j);
      HWY_DYNAMIC_DISPATCH(normals_of_row)(row);
    }
  });
  return normals;
}

}  // namespace recon
#endif
