#include "fuse/agreement.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuse/agreement.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_FUSE_AGREEMENT_ONCE
#define RECON_FUSE_AGREEMENT_ONCE
namespace recon {

/// The agreement of a row of the reference with a source.
struct AgreementRow {
  const DepthView& reference;
  const DepthView& source;
  AgreementGeometry geometry;
  const double* ray_x;  ///< of each column
  double ray_y = 0;     ///< of the row
  int y = 0;
  std::uint64_t* counts = nullptr;  ///< the bytes of each Agreement of the row
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::CappedTag<double, 8>;
using I64 = hn::RebindToSigned<F64>;
using F32 = hn::Rebind<float, F64>;
using I32 = hn::Rebind<std::int32_t, F64>;
using U64 = hn::RebindToUnsigned<F64>;
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

void reproject_block(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
                     ReprojectedBlock& result) {
  const F64 d;
  const I32 di;
  const Vec3d& t = view_from_points.translation;
  const Pinhole& camera = view.camera;
  for (int i = 0; i < points.count; i += static_cast<int>(hn::Lanes(d))) {
    const Vectors rotated =
        rotate(view_from_points.rotation,
               {hn::Load(d, points.x + i), hn::Load(d, points.y + i), hn::Load(d, points.z + i)});
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
    const V64 minus_one = hn::Set(d, -1.0);
    hn::Store(hn::DemoteTo(di, hn::IfThenElse(visible, u, minus_one)), di, result.x + i);
    hn::Store(hn::DemoteTo(di, hn::IfThenElse(visible, v, minus_one)), di, result.y + i);
    hn::Store(u, d, result.u + i);
    hn::Store(v, d, result.v + i);
    hn::Store(z, d, result.predicted + i);
  }
  for (int i = 0; i < points.count; ++i)
    result.found[i] = result.x[i] < 0 ? kUnknown : view.depth.row(result.y[i])[result.x[i]];
}

/// Sets the bits of a reprojected block.
void compare_block(int count, double max_relative_depth, ReprojectedBlock& block) {
  const F64 d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(F64()));
  block.agree = block.through = 0;
  for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(d))) {
    const V64 predicted = hn::Load(d, block.predicted + i);
    const V64 found = hn::PromoteTo(d, hn::Load(F32(), block.found + i));
    const V64 difference = hn::Abs(hn::Sub(predicted, found));
    const auto agree = hn::Le(difference, hn::Mul(hn::Set(d, max_relative_depth), found));
    const auto through = hn::Lt(predicted, hn::Mul(hn::Set(d, 1.0 - max_relative_depth), found));
    const auto bits = [&](hn::Mask<F64> mask) HWY_ATTR {
      std::uint8_t bytes[(kLanes + 7) / 8 + 7] = {};
      hn::StoreMaskBits(d, mask, bytes);
      return static_cast<std::uint64_t>(bytes[0]) << i;
    };
    block.agree |= bits(agree);
    block.through |= bits(through);
  }
  const std::uint64_t valid = count == PointBlock::kMax ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  block.agree &= valid;
  block.through &= valid;
}

void reproject_and_compare(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
                           double max_relative_depth, ReprojectedBlock& result) {
  reproject_block(points, view_from_points, view, result);
  compare_block(points.count, max_relative_depth, result);
}

/// Some vectors, one array per coordinate.
struct VectorBlock {
  alignas(64) float x[PointBlock::kMax], y[PointBlock::kMax], z[PointBlock::kMax];

  void set(int i, Vec3f v) { x[i] = v.x, y[i] = v.y, z[i] = v.z; }
};

HWY_INLINE Vectors load(const VectorBlock& block, int i) {
  const F64 d;
  const F32 df;
  return {hn::PromoteTo(d, hn::Load(df, block.x + i)), hn::PromoteTo(d, hn::Load(df, block.y + i)),
          hn::PromoteTo(d, hn::Load(df, block.z + i))};
}

/// Whether the angle between the normals is too large; false where one is unknown.
HWY_INLINE hn::Mask<F64> normals_differ(const AgreementRow& row, const Vectors& reference,
                                        const Vectors& source) {
  const Vectors a = rotate(row.geometry.source_from_reference.rotation, reference);
  const V64 cosine = hn::Add(hn::Add(hn::Mul(a.x, source.x), hn::Mul(a.y, source.y)), hn::Mul(a.z, source.z));
  return hn::Lt(cosine, hn::Set(F64(), row.geometry.min_cosine));
}

/// See surface_offset.
HWY_INLINE V64 surface_offsets(const AgreementGeometry& geometry, const ReprojectedBlock& block, int begin,
                               V64 predicted, V64 found, const Vectors& n) {
  const F64 d;
  const Pinhole& camera = geometry.source;
  const auto along_ray = [&](V64 u, V64 v) HWY_ATTR {
    const V64 x = hn::Div(hn::Sub(u, hn::Set(d, camera.cx)), hn::Set(d, camera.fx));
    const V64 y = hn::Div(hn::Sub(v, hn::Set(d, camera.cy)), hn::Set(d, camera.fy));
    return hn::Add(hn::Add(hn::Mul(n.x, x), hn::Mul(n.y, y)), n.z);
  };
  const auto centre = [&](const std::int32_t* index) HWY_ATTR {
    return hn::Add(hn::PromoteTo(d, hn::Load(I32(), index + begin)), hn::Set(d, 0.5));
  };
  const V64 along = hn::Mul(predicted, along_ray(hn::Load(d, block.u + begin), hn::Load(d, block.v + begin)));
  const V64 surface = hn::Mul(found, along_ray(centre(block.x), centre(block.y)));
  const Vec3d& t = geometry.source_from_reference.translation;
  const V64 origin = hn::Add(hn::Add(hn::Mul(n.x, hn::Set(d, t.x)), hn::Mul(n.y, hn::Set(d, t.y))),
                             hn::Mul(n.z, hn::Set(d, t.z)));
  return hn::Div(hn::Sub(surface, along), hn::Sub(along, origin));
}

/// The offset of an Agreement, and that one source is placed, where `counts` is set and the offset is known.
HWY_INLINE hn::Vec<U64> placed_offsets(V64 offset, double max_relative_depth, hn::Mask<F64> counts) {
  const F64 d;
  const V64 max = hn::Set(d, kOffsetShare * max_relative_depth);
  const auto placed = hn::And(counts, hn::Le(hn::Abs(offset), max));
  const V64 steps = hn::IfThenElseZero(placed, hn::Mul(hn::Div(offset, max), hn::Set(d, kOffsetSteps)));
  const V64 rounded = hn::Add(steps, hn::CopySign(hn::Set(d, 0.5), steps));
  const auto whole = hn::PromoteTo(I64(), hn::DemoteTo(I32(), rounded));
  const auto one = hn::BitCast(d, hn::Set(I64(), std::int64_t{1} << 40));
  return hn::Or(hn::BitCast(U64(), hn::ShiftLeft<48>(whole)),
                hn::BitCast(U64(), hn::IfThenElseZero(placed, one)));
}

/// What the source says of a vector of pixels: the bytes of an Agreement.
HWY_INLINE hn::Vec<U64> agreement(const AgreementRow& row, const ReprojectedBlock& block, int begin,
                                  const Vectors& reference_normal, const Vectors& source_normal) {
  const F64 d;
  const V64 predicted = hn::Load(d, block.predicted + begin);
  const V64 found = hn::PromoteTo(d, hn::Load(F32(), block.found + begin));
  const auto visible = hn::Ge(hn::PromoteTo(d, hn::Load(I32(), block.x + begin)), hn::Zero(d));
  const auto known = hn::Eq(found, found);
  const V64 difference = hn::Abs(hn::Sub(predicted, found));
  const auto same = hn::Le(difference, hn::Mul(hn::Set(d, row.geometry.max_relative_depth), found));
  const auto nearer = hn::Lt(predicted, hn::Mul(hn::Set(d, 1.0 - row.geometry.max_relative_depth), found));
  const auto through = hn::AndNot(same, nearer);
  const auto agree = hn::AndNot(normals_differ(row, reference_normal, source_normal), same);
  const double max_close = kCloseShare * row.geometry.max_relative_depth;
  const auto close = hn::And(agree, hn::Le(difference, hn::Mul(hn::Set(d, max_close), found)));
  const auto one = [&](int byte)
                       HWY_ATTR { return hn::BitCast(d, hn::Set(I64(), std::int64_t{1} << (8 * byte))); };
  const V64 seen = hn::Or(hn::IfThenElseZero(visible, one(0)), hn::IfThenElseZero(known, one(1)));
  const V64 same_surface = hn::Or(hn::IfThenElseZero(agree, one(2)), hn::IfThenElseZero(close, one(3)));
  const auto counts =
      hn::BitCast(U64(), hn::Or(hn::Or(seen, same_surface), hn::IfThenElseZero(through, one(4))));
  if (hn::AllFalse(d, agree)) return counts;
  const V64 offset = surface_offsets(row.geometry, block, begin, predicted, found, source_normal);
  return hn::Or(counts, placed_offsets(offset, row.geometry.max_relative_depth, agree));
}

void count_row(const AgreementRow& row) {
  const int width = row.reference.depth.width;
  const float* depth = row.reference.depth.row(row.y);
  const Vec3f* normal = row.reference.normal.row(row.y);
  PointBlock points{};
  ReprojectedBlock block{};
  VectorBlock reference_normals{}, source_normals{};
  alignas(64) std::uint64_t said[PointBlock::kMax];
  for (int first = 0; first < width; first += PointBlock::kMax) {
    points.count = std::min(PointBlock::kMax, width - first);
    for (int i = 0; i < points.count; ++i) {
      const double z = depth[first + i];
      points.x[i] = z * row.ray_x[first + i], points.y[i] = z * row.ray_y, points.z[i] = z;
    }
    for (int i = 0; i < points.count; ++i) reference_normals.set(i, normal[first + i]);
    reproject_block(points, row.geometry.source_from_reference, row.source, block);
    for (int i = 0; i < points.count; ++i)
      if (block.x[i] >= 0) source_normals.set(i, row.source.normal.row(block.y[i])[block.x[i]]);
    for (int i = 0; i < points.count; i += static_cast<int>(hn::Lanes(F64())))
      hn::Store(agreement(row, block, i, load(reference_normals, i), load(source_normals, i)), U64(),
                said + i);
    for (int i = 0; i < points.count; ++i) row.counts[first + i] += said[i];
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(reproject_and_compare);
HWY_EXPORT(count_row);

void reproject(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
               const ConsistencyOptions& options, ReprojectedBlock& result) {
  HWY_DYNAMIC_DISPATCH(reproject_and_compare)
  (points, view_from_points, view, static_cast<double>(options.max_relative_depth), result);
}

void count_agreement(const DepthView& reference, const DepthView& source, const ConsistencyOptions& options,
                     ImageView<Agreement> counts) {
  EXPECTS(counts.width == reference.depth.width && counts.height == reference.depth.height);
  static_assert(sizeof(Agreement) == sizeof(std::uint64_t));
  std::vector<double> ray_x(counts.width);
  for (int x = 0; x < counts.width; ++x) ray_x[x] = reference.camera.ray(pixel_centre(x, 0)).x;
  const AgreementRow view{reference, source, agreement_geometry(reference, source, options), ray_x.data()};
  parallel_for(counts.height, [&](int y) {
    AgreementRow row = view;
    row.y = y;
    row.ray_y = reference.camera.ray(pixel_centre(0, y)).y;
    row.counts = reinterpret_cast<std::uint64_t*>(counts.row(y));
    HWY_DYNAMIC_DISPATCH(count_row)(row);
  });
}

Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                 const ConsistencyOptions& options) {
  const auto view_of = [](const DepthSource& source, const DepthSource::Maps& maps) {
    return DepthView{source.camera, source.cam_from_world, maps.depth, maps.normal, {}, source.normal_noise};
  };
  const DepthSource::Maps maps = reference.load();
  Image<Agreement> counts(maps.depth.width, maps.depth.height, {});
  for (const DepthSource& source : sources) {
    const DepthSource::Maps others = source.load();
    count_agreement(view_of(reference, maps), view_of(source, others), options, counts.view());
  }
  return counts;
}

}  // namespace recon
#endif
