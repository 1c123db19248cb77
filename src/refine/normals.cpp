#include "refine/normals.hpp"

#include <algorithm>
#include <array>
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
  /// Of each row around the pixels the element kNormalRadius columns before the first pixel; null outside the
  /// image.
  std::array<const float*, 2 * kNormalRadius + 1> inverse_depth{};
  const Pinhole& camera;
  int y;
  Vec3f* normals;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using V32 = hn::Vec<F32>;
using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::Vec<I32>;

HWY_INLINE V32 number(float value) {
  return hn::Set(F32(), value);
}

HWY_INLINE V32 number(int value) {
  return hn::Set(F32(), static_cast<float>(value));
}

/// The sums of WindowSums, of some pixels each. As those of the offsets are small whole numbers, two sums
/// have them all, each in its own bits.
template <int kCells>
struct Sums {
  VI32 first, second;
  V32 q, xq, yq, qq;

  static constexpr int kX = 6, kY = 14, kXx = 22, kXy = 8;

  HWY_INLINE Sums() {
    first = second = hn::Zero(I32());
    q = xq = yq = qq = hn::Zero(F32());
  }

  /// Counts a cell where it lies on the surface.
  /// @returns its difference there, else 0
  HWY_INLINE V32 add(int x, int y, V32 difference, V32 limit) {
    const auto same = hn::Le(hn::Abs(difference), limit);
    const auto same_cells = hn::RebindMask(I32(), same);
    // Offsets are counted from the corner of the window, so that none is negative.
    const int right = x + kCells, below = y + kCells;
    const int in_first = 1 + (right << kX) + (below << kY) + ((x * x) << kXx);
    const int in_second = y * y + ((right * below) << kXy);
    first = hn::Add(first, hn::IfThenElseZero(same_cells, hn::Set(I32(), in_first)));
    second = hn::Add(second, hn::IfThenElseZero(same_cells, hn::Set(I32(), in_second)));
    return hn::IfThenElseZero(same, difference);
  }

  template <int kBegin, int kBits>
  static HWY_INLINE V32 field(VI32 sum) {
    const VI32 bits = hn::And(hn::ShiftRight<kBegin>(sum), hn::Set(I32(), (1 << kBits) - 1));
    return hn::ConvertTo(F32(), bits);
  }
};

/// InverseDepthPlane of some pixels each.
struct Planes {
  V32 a, b, c, variance, spread;
  hn::Mask<F32> known;

  /// Written out for arm64: an implicit one is compiled without the instructions that Highway asks for.
  HWY_INLINE Planes() {}
};

/// Those of a constant inverse depth.
HWY_INLINE Planes level_planes(V32 inverse_depth) {
  Planes planes;
  planes.a = planes.b = planes.variance = planes.spread = hn::Zero(F32());
  planes.c = inverse_depth;
  planes.known = hn::MaskFromVec(planes.a);
  return planes;
}

template <int kCells>
HWY_INLINE Planes fit_planes(const Sums<kCells>& sums, const Planes& base, int stride) {
  using S = Sums<kCells>;
  const V32 r = number(kCells), n = S::template field<0, S::kX>(sums.first);
  const V32 corner_x = S::template field<S::kX, S::kY - S::kX>(sums.first);
  const V32 x = hn::Sub(corner_x, hn::Mul(r, n));
  const V32 y = hn::Sub(S::template field<S::kY, S::kXx - S::kY>(sums.first), hn::Mul(r, n));
  const V32 corner_xy = S::template field<S::kXy, 16>(sums.second);
  const V32 sum_xy = hn::Sub(hn::Sub(corner_xy, hn::Mul(r, corner_x)), hn::Mul(r, y));
  const auto covariance = [&](V32 sum, V32 u, V32 v)
                              HWY_ATTR { return hn::Sub(hn::Mul(n, sum), hn::Mul(u, v)); };
  const V32 xx = covariance(S::template field<S::kXx, 8>(sums.first), x, x);
  const V32 yy = covariance(S::template field<0, S::kXy>(sums.second), y, y);
  const V32 xy = covariance(sum_xy, x, y);
  const V32 xq = covariance(sums.xq, x, sums.q), yq = covariance(sums.yq, y, sums.q);
  const V32 determinant = hn::Sub(hn::Mul(xx, yy), hn::Mul(xy, xy));
  const V32 a = hn::Div(hn::Sub(hn::Mul(xq, yy), hn::Mul(yq, xy)), determinant);
  const V32 b = hn::Div(hn::Sub(hn::Mul(yq, xx), hn::Mul(xq, xy)), determinant);
  const V32 explained = hn::Add(hn::Mul(sums.q, sums.q), hn::Add(hn::Mul(a, xq), hn::Mul(b, yq)));
  const V32 squares = hn::Sub(sums.qq, hn::Div(explained, n));
  const V32 mean = hn::Div(hn::Sub(sums.q, hn::Add(hn::Mul(a, x), hn::Mul(b, y))), n);
  const V32 cell = number(1.0f / static_cast<float>(stride));
  const auto positive = hn::Gt(squares, hn::Zero(F32()));
  Planes planes;
  planes.a = hn::Add(base.a, hn::Mul(a, cell));
  planes.b = hn::Add(base.b, hn::Mul(b, cell));
  planes.c = hn::Add(base.c, mean);
  planes.variance = hn::Div(hn::IfThenElseZero(positive, squares), hn::Sub(n, number(3)));
  planes.spread = hn::Mul(hn::Div(hn::Mul(n, hn::Add(xx, yy)), determinant), hn::Mul(cell, cell));
  planes.known = hn::And(hn::Ge(n, number(kMinNormalSupport)), hn::Gt(determinant, hn::Zero(F32())));
  return planes;
}

/// See window_plane.
/// @param x  the first of the pixels
template <int kCells>
HWY_INLINE Planes window_planes(const NormalRow& row, int x, const Planes& base, V32 limit, int stride) {
  const V32 across = hn::Mul(base.a, number(stride)), down = hn::Mul(base.b, number(stride));
  Sums<kCells> sums;
  for (int j = -kCells; j <= kCells; ++j) {
    const float* inverse_depth = row.inverse_depth[j * stride + kNormalRadius];
    if (inverse_depth == nullptr) continue;
    const V32 origin = hn::Add(base.c, hn::Mul(number(j), down));
    const auto add = [&](int i) HWY_ATTR {
      const V32 found = hn::LoadU(F32(), inverse_depth + x + i * stride + kNormalRadius);
      return sums.add(i, j, hn::Sub(hn::Sub(found, origin), hn::Mul(number(i), across)), limit);
    };
    V32 q = add(0), xq = hn::Zero(F32()), qq = hn::Mul(q, q);
    for (int i = 1; i <= kCells; ++i) {
      const V32 before = add(-i), after = add(i);
      q = hn::Add(q, hn::Add(before, after));
      xq = hn::Add(xq, hn::Mul(number(i), hn::Sub(after, before)));
      qq = hn::Add(qq, hn::Add(hn::Mul(before, before), hn::Mul(after, after)));
    }
    sums.q = hn::Add(sums.q, q), sums.xq = hn::Add(sums.xq, xq), sums.qq = hn::Add(sums.qq, qq);
    sums.yq = hn::Add(sums.yq, hn::Mul(number(j), q));
  }
  return fit_planes(sums, base, stride);
}

/// See mean_plane; only a, b and c are of use.
HWY_INLINE Planes mean_planes(const Planes (&planes)[kNormalWindows], V32 middle, float focal_length) {
  const V32 narrow = planes[0].variance, wider = hn::Mul(number(kVarianceShare), planes[1].variance);
  const V32 noise = hn::IfThenElse(planes[1].known, hn::Mul(number(0.5f), hn::Add(narrow, wider)), narrow);
  const V32 scale = hn::Div(middle, number(focal_length));
  const V32 bend = hn::Mul(number(kSurfaceBend), hn::Mul(scale, scale));
  V32 error[kNormalWindows], least = hn::Zero(F32());
  for (int k = 0; k < kNormalWindows; ++k) {
    error[k] = hn::Add(hn::Mul(noise, planes[k].spread), hn::Mul(bend, number(normal_window_radius(k))));
    const auto less = hn::And(planes[k].known, hn::Lt(error[k], least));
    least = k == 0 ? error[k] : hn::IfThenElse(less, error[k], least);
  }
  Planes sum = level_planes(hn::Zero(F32()));
  V32 weights = hn::Zero(F32());
  for (int k = 0; k < kNormalWindows; ++k) {
    const Planes& plane = planes[k];
    const V32 ratio = hn::Div(least, error[k]), square = hn::Mul(ratio, ratio);
    const V32 weight = hn::Mul(square, square);
    const auto add = [&](V32 total, V32 term)
                         HWY_ATTR { return hn::Add(total, hn::IfThenElseZero(plane.known, term)); };
    weights = add(weights, weight);
    sum.a = add(sum.a, hn::Mul(weight, plane.a)), sum.b = add(sum.b, hn::Mul(weight, plane.b));
    sum.c = add(sum.c, hn::Mul(weight, plane.c));
  }
  sum.a = hn::Div(sum.a, weights), sum.b = hn::Div(sum.b, weights), sum.c = hn::Div(sum.c, weights);
  return sum;
}

/// The planes around the pixels from column x on.
/// @param known  of those that have one
HWY_INLINE Planes surface_planes(const NormalRow& row, int x, hn::Mask<F32>& known) {
  const V32 middle = hn::LoadU(F32(), row.inverse_depth[kNormalRadius] + x + kNormalRadius);
  const V32 widest = hn::Mul(number(kSameSurface), middle);
  Planes planes[kNormalWindows];
  planes[0] = window_planes<kNarrowNormalCells>(row, x, level_planes(middle), widest, 1);
  known = planes[0].known;
  if (hn::AllFalse(F32(), known)) return planes[0];
  Planes base = planes[0];
  for (int k = 1; k < kNormalWindows; ++k) {
    const V32 limit = hn::Add(hn::Mul(number(kSameSurfaceDeviations), hn::Sqrt(base.variance)),
                              hn::Mul(number(kSameSurfaceFloor), middle));
    planes[k] = window_planes<kWideNormalCells>(
        row, x, base, hn::IfThenElse(hn::Lt(limit, widest), limit, widest), normal_stride(k));
    const auto fits = planes[k].known;
    const auto replace = [&](V32& old, V32 found) HWY_ATTR { old = hn::IfThenElse(fits, found, old); };
    replace(base.a, planes[k].a), replace(base.b, planes[k].b), replace(base.c, planes[k].c);
    replace(base.variance, planes[k].variance);
  }
  return mean_planes(planes, middle, static_cast<float>(row.camera.fx));
}

/// The normals of the pixels from column x on.
HWY_INLINE void normals_at(const NormalRow& row, int x, float* normal_x, float* normal_y, float* normal_z) {
  const Pinhole& camera = row.camera;
  hn::Mask<F32> known;
  const Planes plane = surface_planes(row, x, known);
  const auto from_centre = [](V32 index, double centre) HWY_ATTR {
    return hn::Sub(hn::Add(index, number(0.5f)), number(static_cast<float>(centre)));
  };
  const V32 column = hn::Add(hn::Iota(F32(), 0), number(x));
  const V32 from_cx = from_centre(column, camera.cx), from_cy = from_centre(number(row.y), camera.cy);
  // n . X = k and X = ray / w give w = n . ray / k: compare coefficients of the pixel coordinates.
  const V32 nx = hn::Mul(plane.a, number(static_cast<float>(camera.fx)));
  const V32 ny = hn::Mul(plane.b, number(static_cast<float>(camera.fy)));
  const V32 nz = hn::Sub(hn::Sub(plane.c, hn::Mul(plane.a, from_cx)), hn::Mul(plane.b, from_cy));
  const V32 squares = hn::Add(hn::Add(hn::Mul(nx, nx), hn::Mul(ny, ny)), hn::Mul(nz, nz));
  const V32 scale = hn::Div(number(-1.0f), hn::Sqrt(squares));
  const auto store = [&](V32 coordinate, float* out) HWY_ATTR {
    const V32 unknown = number(std::numeric_limits<float>::quiet_NaN());
    hn::StoreU(hn::IfThenElse(known, hn::Mul(scale, coordinate), unknown), F32(), out);
  };
  store(nx, normal_x), store(ny, normal_y), store(nz, normal_z);
}

void normals_of_row(const NormalRow& row) {
  constexpr int kBlock = 64;
  const int lanes = static_cast<int>(hn::Lanes(F32()));
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
    std::vector<float> inverse(columns * static_cast<std::size_t>(last - first),
                               std::numeric_limits<float>::quiet_NaN());
    const auto row_of = [&](int y) { return inverse.data() + static_cast<std::size_t>(y - first) * columns; };
    for (int y = first; y < last; ++y)
      for (int x = 0; x < depth.width; ++x) row_of(y)[x + kNormalRadius] = 1.0f / depth(x, y);
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
