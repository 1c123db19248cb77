#include "refine/mean_normals.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "refine/mean_normal_step.hpp"
#include "refine/normals.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "refine/mean_normals.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_REFINE_MEAN_NORMALS_ONCE
#define RECON_REFINE_MEAN_NORMALS_ONCE
namespace recon {

constexpr int kMeanNormalSlack = 64;  ///< elements after a row that a vector may read

/// What is known of a row of pixels, from kMeanNormalRadius columns before the first one on; null outside the
/// image.
struct SurfaceRow {
  const float *x = nullptr, *y = nullptr, *z = nullptr;  ///< of the normals
  const float* depth = nullptr;
};

/// A row of pixels and the rows around it.
struct MeanNormalRow {
  std::array<SurfaceRow, 2 * kMeanNormalRadius + 1> around{};
  int width;
  Vec3f* means;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using MeanF32 = hn::ScalableTag<float>;
using MeanV32 = hn::Vec<MeanF32>;

struct Normals {
  MeanV32 x, y, z;
};

HWY_INLINE Normals load_normals(const SurfaceRow& row, int column) {
  const MeanF32 d;
  return {hn::LoadU(d, row.x + column), hn::LoadU(d, row.y + column), hn::LoadU(d, row.z + column)};
}

/// a . b
HWY_INLINE MeanV32 cosines(const Normals& a, const Normals& b) {
  return hn::Add(hn::Add(hn::Mul(a.x, b.x), hn::Mul(a.y, b.y)), hn::Mul(a.z, b.z));
}

/// See mean_normal_step.
/// @param x  the first of the pixels
HWY_INLINE Normals mean_normals_at(const MeanNormalRow& row, int x) {
  const MeanF32 d;
  const SurfaceRow& middle = row.around[kMeanNormalRadius];
  const Normals own = load_normals(middle, x + kMeanNormalRadius);
  const MeanV32 depth = hn::LoadU(d, middle.depth + x + kMeanNormalRadius);
  const MeanV32 limit = hn::Mul(hn::Set(d, kMeanNormalDepths), depth);
  const MeanV32 zero = hn::Zero(d);
  Normals sum{zero, zero, zero};
  for (const SurfaceRow& other : row.around) {
    if (other.depth == nullptr) continue;
    for (int column = x; column <= x + 2 * kMeanNormalRadius; ++column) {
      const Normals n = load_normals(other, column);
      const MeanV32 away = hn::Abs(hn::Sub(hn::LoadU(d, other.depth + column), depth));
      const auto same = hn::And(hn::Le(away, limit), hn::Ge(cosines(n, own), hn::Set(d, kMeanNormalCosine)));
      sum.x = hn::Add(sum.x, hn::IfThenElseZero(same, n.x));
      sum.y = hn::Add(sum.y, hn::IfThenElseZero(same, n.y));
      sum.z = hn::Add(sum.z, hn::IfThenElseZero(same, n.z));
    }
  }
  const MeanV32 scale = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(cosines(sum, sum)));
  return {hn::Mul(scale, sum.x), hn::Mul(scale, sum.y), hn::Mul(scale, sum.z)};
}

void mean_normals_of_row(const MeanNormalRow& row) {
  constexpr int kBlock = 64;
  const MeanF32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  float x[kBlock], y[kBlock], z[kBlock];
  for (int begin = 0; begin < row.width; begin += kBlock) {
    const int count = std::min(kBlock, row.width - begin);
    for (int i = 0; i < count; i += lanes) {
      const Normals means = mean_normals_at(row, begin + i);
      hn::StoreU(means.x, d, x + i), hn::StoreU(means.y, d, y + i), hn::StoreU(means.z, d, z + i);
    }
    for (int i = 0; i < count; ++i) row.means[begin + i] = {x[i], y[i], z[i]};
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(mean_normals_of_row);

namespace {

/// Rows of normals and depths, one coordinate after the other, with unknown ones around them.
class SurfaceRows {
 public:
  SurfaceRows(ImageView<const Vec3f> normals, ImageView<const float> depth, int first, int last)
      : first_(first),
        last_(last),
        columns_(static_cast<std::size_t>(depth.width + 2 * kMeanNormalRadius + kMeanNormalSlack)),
        elements_(4 * columns_ * static_cast<std::size_t>(last - first),
                  std::numeric_limits<float>::quiet_NaN()) {
    for (int y = first; y < last; ++y)
      for (int x = 0; x < depth.width; ++x) {
        const Vec3f n = normals(x, y);
        float* element = elements_.data() + begin(y) + x + kMeanNormalRadius;
        for (const float value : {n.x, n.y, n.z, depth(x, y)}) *element = value, element += columns_;
      }
  }

  SurfaceRow row(int y) const {
    if (y < first_ || y >= last_) return {};
    const float* x = elements_.data() + begin(y);
    return {x, x + columns_, x + 2 * columns_, x + 3 * columns_};
  }

 private:
  std::size_t begin(int y) const { return 4 * columns_ * static_cast<std::size_t>(y - first_); }

  int first_, last_;
  std::size_t columns_;
  std::vector<float> elements_;
};

}  // namespace

Image<Vec3f> mean_normals(ImageView<const Vec3f> normals, ImageView<const float> depth) {
  EXPECTS(normals.width == depth.width && normals.height == depth.height);
  // Rows whose coordinates are separated together: fewer than share inverse depths in normals_from_depth, so
  // that less memory is in use than there.
  constexpr int kBand = 8;
  Image<Vec3f> means(depth.width, depth.height);
  parallel_for((depth.height + kBand - 1) / kBand, [&](int band) {
    const int begin = band * kBand, end = std::min(begin + kBand, depth.height);
    const SurfaceRows rows(normals, depth, std::max(begin - kMeanNormalRadius, 0),
                           std::min(end + kMeanNormalRadius, depth.height));
    for (int y = begin; y < end; ++y) {
      MeanNormalRow row{{}, depth.width, means.row(y)};
      for (int j = -kMeanNormalRadius; j <= kMeanNormalRadius; ++j)
        row.around[j + kMeanNormalRadius] = rows.row(y + j);
      HWY_DYNAMIC_DISPATCH(mean_normals_of_row)(row);
    }
  });
  return means;
}

Image<Vec3f> checked_normals(ImageView<const float> depth, const Pinhole& camera) {
  const Image<Vec3f> normals = normals_from_depth(depth, camera);
  return mean_normals(normals.view(), depth);
}

}  // namespace recon
#endif
