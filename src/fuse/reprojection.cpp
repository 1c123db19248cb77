#include "fuse/reprojection.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuse/reprojection.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_FUSE_REPROJECTION_ONCE
#define RECON_FUSE_REPROJECTION_ONCE
namespace recon {

/// The agreement of a row of the reference with a source.
struct AgreementRow {
  const DepthView& reference;
  const DepthView& source;
  Pose source_from_reference;
  double max_relative_depth, min_cosine;
  const double* ray_x;  ///< of each column, padded to whole vectors
  double ray_y = 0;     ///< of the row
  int y = 0;
  std::uint32_t* counts = nullptr;  ///< the bytes of each Agreement of the row
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using I64 = hn::RebindToSigned<F64>;
using F32 = hn::Rebind<float, F64>;
using I32 = hn::Rebind<std::int32_t, F64>;
using U32 = hn::Rebind<std::uint32_t, F64>;
using V64 = hn::Vec<F64>;

struct Vectors {
  V64 x, y, z;
};

HWY_INLINE V64 dot(const double* a, const Vectors& b) {
  const F64 d;
  return hn::Add(hn::Add(hn::Mul(hn::Set(d, a[0]), b.x), hn::Mul(hn::Set(d, a[1]), b.y)),
                 hn::Mul(hn::Set(d, a[2]), b.z));
}

HWY_INLINE Vectors rotate(const Mat3d& rotation, const Vectors& v) {
  return {dot(rotation.m, v), dot(rotation.m + 3, v), dot(rotation.m + 6, v)};
}

struct Reprojected {
  hn::Vec<I32> x, y;
  hn::Vec<F32> found;  ///< NaN where a point is not visible
  V64 predicted;
};

HWY_INLINE Reprojected reproject(const Vectors& point, const Pose& view_from_points, const DepthView& view) {
  const F64 d;
  const I32 di;
  const F32 df;
  const Vec3d& t = view_from_points.translation;
  const Pinhole& camera = view.camera;
  const Vectors rotated = rotate(view_from_points.rotation, point);
  const V64 z = hn::Add(rotated.z, hn::Set(d, t.z));
  const auto project = [&](V64 coordinate, double offset, double focal, double centre) HWY_ATTR {
    const V64 scaled = hn::Mul(hn::Set(d, focal), hn::Add(coordinate, hn::Set(d, offset)));
    return hn::Add(hn::Div(scaled, z), hn::Set(d, centre));
  };
  const auto within = [&](V64 pixel, int size) HWY_ATTR {
    return hn::And(hn::Ge(pixel, hn::Zero(d)), hn::Lt(pixel, hn::Set(d, size)));
  };
  const V64 u = project(rotated.x, t.x, camera.fx, camera.cx);
  const V64 v = project(rotated.y, t.y, camera.fy, camera.cy);
  const auto visible =
      hn::And(hn::Gt(z, hn::Zero(d)), hn::And(within(u, camera.width), within(v, camera.height)));
  const auto x = hn::DemoteTo(di, hn::IfThenElseZero(visible, u));
  const auto y = hn::DemoteTo(di, hn::IfThenElseZero(visible, v));
  const auto pixel = hn::Add(hn::Mul(y, hn::Set(di, static_cast<std::int32_t>(view.depth.pitch))), x);
  const V64 depth = hn::PromoteTo(d, hn::GatherIndex(df, view.depth.data, pixel));
  const V64 unknown = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  return {x, y, hn::DemoteTo(df, hn::IfThenElse(visible, depth, unknown)), z};
}

void reproject_block(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
                     ReprojectedBlock& result) {
  const F64 d;
  for (int i = 0; i < points.count; i += static_cast<int>(hn::Lanes(d))) {
    const Vectors point{hn::Load(d, points.x + i), hn::Load(d, points.y + i), hn::Load(d, points.z + i)};
    const Reprojected found = reproject(point, view_from_points, view);
    hn::Store(found.x, I32(), result.x + i);
    hn::Store(found.y, I32(), result.y + i);
    hn::Store(found.found, F32(), result.found + i);
    hn::Store(found.predicted, d, result.predicted + i);
  }
}

/// The vectors at `pixel`, by two elements of 64 bits each: x and y, y and z.
HWY_INLINE Vectors gather(const Vec3f* vectors, hn::Vec<I64> pixel) {
  const F64 d;
  const I64 di;
  const hn::RebindToUnsigned<F64> du;
  const auto offset = hn::Add(hn::ShiftLeft<3>(pixel), hn::ShiftLeft<2>(pixel));
  const auto* base = reinterpret_cast<const std::int64_t*>(vectors);
  const auto xy = hn::BitCast(du, hn::GatherOffset(di, base, offset));
  const auto yz = hn::BitCast(du, hn::GatherOffset(di, base, hn::Add(offset, hn::Set(di, 4))));
  const auto low = [&](auto pair)
                       HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(F32(), hn::TruncateTo(U32(), pair))); };
  return {low(xy), low(yz), low(hn::ShiftRight<32>(yz))};
}

/// Whether the angle between the normals is too large; false where one is unknown.
HWY_INLINE hn::Mask<F64> normals_differ(const AgreementRow& row, int x, const Reprojected& found) {
  const F64 d;
  const I64 di;
  const auto column = hn::Min(hn::Iota(di, x), hn::Set(di, row.reference.normal.width - 1));
  const ImageView<const Vec3f>& normals = row.source.normal;
  // In double precision, since a product of 64-bit integers is slow; it is exact.
  const V64 pixel =
      hn::Add(hn::Mul(hn::PromoteTo(d, found.y), hn::Set(d, static_cast<double>(normals.pitch))),
              hn::PromoteTo(d, found.x));
  const Vectors a =
      rotate(row.source_from_reference.rotation, gather(row.reference.normal.row(row.y), column));
  const Vectors b = gather(normals.data, hn::ConvertTo(di, pixel));
  const V64 cosine = hn::Add(hn::Add(hn::Mul(a.x, b.x), hn::Mul(a.y, b.y)), hn::Mul(a.z, b.z));
  return hn::Lt(cosine, hn::Set(d, row.min_cosine));
}

/// Counts a vector of pixels from column x on.
HWY_INLINE void count_vector(const AgreementRow& row, int x, const float* depth, std::uint32_t* counts) {
  const F64 d;
  const U32 du;
  const V64 z = hn::PromoteTo(d, hn::LoadU(F32(), depth));
  const Vectors point{hn::Mul(z, hn::LoadU(d, row.ray_x + x)), hn::Mul(z, hn::Set(d, row.ray_y)), z};
  const Reprojected at = reproject(point, row.source_from_reference, row.source);
  const V64 found = hn::PromoteTo(d, at.found);
  const auto known = hn::Eq(found, found);
  if (hn::AllFalse(d, known)) return;
  const V64 difference = hn::Abs(hn::Sub(at.predicted, found));
  const auto same = hn::Le(difference, hn::Mul(hn::Set(d, row.max_relative_depth), found));
  const auto nearer = hn::Lt(at.predicted, hn::Mul(hn::Set(d, 1.0 - row.max_relative_depth), found));
  const auto through = hn::AndNot(same, nearer);
  const auto hidden = hn::AndNot(hn::Or(same, nearer), known);
  auto agree = same;
  if (!hn::AllFalse(d, same)) agree = hn::AndNot(normals_differ(row, x, at), same);
  const auto one = [&](int byte)
                       HWY_ATTR { return hn::BitCast(d, hn::Set(I64(), std::int64_t{1} << (8 * byte))); };
  const V64 ones = hn::Or(hn::Or(hn::IfThenElseZero(known, one(0)), hn::IfThenElseZero(agree, one(1))),
                          hn::Or(hn::IfThenElseZero(through, one(2)), hn::IfThenElseZero(hidden, one(3))));
  const auto added = hn::TruncateTo(du, hn::BitCast(hn::RebindToUnsigned<F64>(), ones));
  hn::StoreU(hn::Add(hn::LoadU(du, counts), added), du, counts);
}

void count_row(const AgreementRow& row) {
  const F64 d;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = row.reference.depth.width;
  const float* depth = row.reference.depth.row(row.y);
  int x = 0;
  for (; x + lanes <= width; x += lanes) count_vector(row, x, depth + x, row.counts + x);
  if (x == width) return;
  float last_depths[hn::MaxLanes(d)];
  std::uint32_t last_counts[hn::MaxLanes(d)] = {};
  std::fill(std::begin(last_depths), std::end(last_depths), std::numeric_limits<float>::quiet_NaN());
  std::copy(depth + x, depth + width, last_depths);
  std::copy(row.counts + x, row.counts + width, last_counts);
  count_vector(row, x, last_depths, last_counts);
  std::copy_n(last_counts, width - x, row.counts + x);
}

}  // namespace HWY_NAMESPACE
}  // namespace recon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(reproject_block);
HWY_EXPORT(count_row);

void reproject(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
               ReprojectedBlock& result) {
  HWY_DYNAMIC_DISPATCH(reproject_block)(points, view_from_points, view, result);
}

void count_agreement(const DepthView& reference, const DepthView& source, const ConsistencyOptions& options,
                     ImageView<Agreement> counts) {
  EXPECTS(counts.width == reference.depth.width && counts.height == reference.depth.height);
  static_assert(sizeof(Agreement) == sizeof(std::uint32_t));
  constexpr std::size_t kSlack = 16;  // padding for one vector
  const auto width = static_cast<std::size_t>(counts.width);
  std::vector<double> ray_x(width + kSlack);
  for (int x = 0; x < counts.width; ++x)
    ray_x[static_cast<std::size_t>(x)] = reference.camera.ray(pixel_centre(x, 0)).x;
  const AgreementRow view{reference,
                          source,
                          source.cam_from_world * inverse(reference.cam_from_world),
                          static_cast<double>(options.max_relative_depth),
                          min_cosine(options),
                          ray_x.data()};
  parallel_for(counts.height, [&](int y) {
    AgreementRow row = view;
    row.y = y;
    row.ray_y = reference.camera.ray(pixel_centre(0, y)).y;
    row.counts = reinterpret_cast<std::uint32_t*>(counts.row(y));
    HWY_DYNAMIC_DISPATCH(count_row)(row);
  });
}

}  // namespace recon
#endif
