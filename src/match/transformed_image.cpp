#include "match/transformed_image.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/counted_memory.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/transformed_image.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#ifndef RECON_MATCH_TRANSFORM_ROWS_
#define RECON_MATCH_TRANSFORM_ROWS_
namespace recon {

/// The rows around one row of an image, with repeated borders; rows[kMaxRadius] is the row itself. Each row
/// has pixels -kMaxRadius .. width + kMaxRadius - 1.
inline constexpr int kMaxRadius = kMaxRankWindow / 2;
struct RowsAround {
  const void* rows[2 * kMaxRadius + 1];
  bool words;  ///< pixels have 16 bits instead of 8
  void* sums;  ///< memory of CoarseRows, of a scaled census
  template <class Grey>
  const Grey* row(int j) const {
    return static_cast<const Grey*>(rows[j + kMaxRadius]);
  }
};

/// The sums of a scaled census around one row of an image, see coarse_sum, and a spare row.
template <class Grey>
struct CoarseRows {
  using Sum = std::conditional_t<sizeof(Grey) == 1, std::uint16_t, std::uint32_t>;
  static constexpr int kMargin = 2 * kCoarseStep;  ///< columns beyond the border

  static std::ptrdiff_t pitch(int width) { return std::ptrdiff_t{width} + 2 * kMargin + 64; }
  static std::ptrdiff_t bytes(int width) { return 6 * pitch(width) * std::ptrdiff_t{sizeof(Sum)}; }

  CoarseRows(const RowsAround& around, int row_width)
      : sums(static_cast<Sum*>(around.sums)), width(row_width) {
    for (int j = -2; j <= 2; ++j) {
      const Grey *above = around.row<Grey>(kCoarseStep * j - 1), *middle = around.row<Grey>(kCoarseStep * j),
                 *below = around.row<Grey>(kCoarseStep * j + 1);
      Sum* const out = sums + (j + 2) * pitch(width) + kMargin;
      const auto column = [&](int x) { return Sum(Sum(above[x] + middle[x]) + below[x]); };
      for (int x = -kMargin; x < width + kMargin; ++x)
        out[x] = static_cast<Sum>(Sum(column(x - 1) + column(x)) + column(x + 1));
    }
  }
  const Sum* at(int i, int j) const { return sums + (j + 2) * pitch(width) + kMargin + kCoarseStep * i; }
  Sum* spare() const { return sums + 5 * pitch(width); }

  Sum* sums;
  int width;
};

/// Inputs of the costs of a row.
struct CostRow {
  const std::uint8_t* left[8];
  const std::uint8_t* right[8];  ///< mirrored
  int width, min_disparity, planes;
  std::uint8_t outside_cost;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes hold whole numbers 0 .. 255.
template <class D>
HWY_INLINE void store_bytes(D, hn::Vec<D> v, std::uint8_t* to) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    hn::StoreU(v, D(), to);
  } else {
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::uint8_t, D> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, v)), d8, to);
  }
}

/// bits * 2 + (a < b)
template <class V>
HWY_INLINE V append(V bits, V a, V b) {
  const hn::DFromV<V> d;
  return hn::Sub(hn::Add(bits, bits), hn::VecFromMask(d, hn::Lt(a, b)));
}

template <class Grey>
void rank_row(const RowsAround& around, int width, int radius, std::uint8_t* out) {
  const hn::ScalableTag<Grey> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    const auto centre = hn::LoadU(d, around.template row<Grey>(0) + x);
    auto darker = hn::Zero(d);
    for (int j = -radius; j <= radius; ++j)
      for (int i = -radius; i <= radius; ++i)
        darker = hn::Sub(
            darker, hn::VecFromMask(d, hn::Lt(hn::LoadU(d, around.template row<Grey>(j) + x + i), centre)));
    store_bytes(d, darker, out + x);
  }
}

/// A census of the values at(i, j) + x.
template <class Value, int RX, int RY, class At>
void census_row(const At& at, int width, std::uint8_t* const* out) {
  const hn::ScalableTag<Value> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    const auto centre = hn::LoadU(d, at(0, 0) + x);
    auto bits = hn::Zero(d);
    int count = 0;
    for (int j = -RY; j <= RY; ++j)
      for (int i = -RX; i <= RX; ++i) {
        if (i == 0 && j == 0) continue;
        bits = append(bits, hn::LoadU(d, at(i, j) + x), centre);
        if (++count % 8 == 0) {
          store_bytes(d, bits, out[count / 8 - 1] + x);
          bits = hn::Zero(d);
        }
      }
    if (count % 8 != 0) store_bytes(d, bits, out[count / 8] + x);
  }
}

template <class Grey>
void symmetric_census_row(const RowsAround& around, int width, std::uint8_t* const* out) {
  const hn::ScalableTag<Grey> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    auto bits = hn::Zero(d);
    for (int k = 0; k < 31; ++k) {
      const int i = k % 9 - 4, j = k / 9 - 3;
      bits = append(bits, hn::LoadU(d, around.template row<Grey>(j) + x + i),
                    hn::LoadU(d, around.template row<Grey>(-j) + x - i));
      if (k % 8 != 7 && k != 30) continue;
      store_bytes(d, bits, out[k / 8] + x);
      bits = hn::Zero(d);
    }
  }
}

/// The range of the 5 x 5 values at(i, j) + x around each pixel.
template <class Value, class At>
void range_row(const At& at, int width, Value* out) {
  const hn::ScalableTag<Value> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    auto least = hn::LoadU(d, at(0, 0) + x), most = least;
    for (int j = -2; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i) {
        const auto value = hn::LoadU(d, at(i, j) + x);
        least = hn::Min(least, value), most = hn::Max(most, value);
      }
    hn::StoreU(hn::Sub(most, least), d, out + x);
  }
}

/// Marks the pixels of an 8-bit row, see TransformedImage.
void weak_texture_row(const RowsAround& around, int width, std::uint8_t* marks) {
  const CoarseRows<std::uint8_t> coarse(around, width);
  std::uint16_t* const ranges = coarse.spare();
  range_row([&](int i, int j) { return around.row<std::uint8_t>(j) + i; }, width, marks);
  range_row([&](int i, int j) { return coarse.at(i, j); }, width, ranges);
  for (int x = 0; x < width; ++x) marks[x] = is_weak_texture(marks[x], ranges[x]) ? 3 : 0;
}

template <class Grey>
void transform_row_of(const RowsAround& around, int width, const TransformOptions& options,
                      std::uint8_t* const* out) {
  const auto grey = [&](int i, int j) { return around.template row<Grey>(j) + i; };
  switch (options.transform) {
    case Transform::kRank:
      return rank_row<Grey>(around, width, options.rank_window / 2, out[0]);
    case Transform::kCensus5x5:
      return census_row<Grey, 2, 2>(grey, width, out);
    case Transform::kCensus9x7:
      return census_row<Grey, 4, 3>(grey, width, out);
    case Transform::kScaledCensus: {
      const CoarseRows<Grey> coarse(around, width);
      census_row<Grey, 2, 2>(grey, width, out);
      return census_row<typename CoarseRows<Grey>::Sum, 2, 2>([&](int i, int j) { return coarse.at(i, j); },
                                                              width, out + 3);
    }
    default:
      return symmetric_census_row<Grey>(around, width, out);
  }
}

void transform_row(const RowsAround& around, int width, const TransformOptions& options,
                   std::uint8_t* const* out) {
  if (around.words) return transform_row_of<std::uint16_t>(around, width, options, out);
  transform_row_of<std::uint8_t>(around, width, options, out);
}

/// Costs of one pixel: compares its bytes from .. from + kBytes - 1 with those at right[b] + base + d.
template <bool kHamming, int kBytes>
HWY_INLINE void pixel_costs(const CostRow& row, int from, int x, int begin, int end, std::uint8_t* costs) {
  const hn::CappedTag<std::uint8_t, TransformedImage::kMargin> d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const std::ptrdiff_t base = std::ptrdiff_t{row.width} - 1 - x + row.min_disparity;
  for (int d = begin / lanes * lanes; d < end; d += lanes) {
    auto cost = hn::Zero(d8);
    for (int b = from; b < from + kBytes; ++b) {
      const auto left = hn::Set(d8, row.left[b][x]);
      const auto right = hn::LoadU(d8, row.right[b] + base + d);
      if constexpr (kHamming)
        cost = hn::Add(cost, hn::PopulationCount(hn::Xor(left, right)));
      else
        cost = hn::Sub(hn::Max(left, right), hn::Min(left, right));
    }
    hn::Store(cost, d8, costs + d);
  }
}

template <bool kHamming, int kBytes, bool kScaled = false>
void cost_pixels(const CostRow& row, int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) {
  for (int x = first; x < first + count; ++x, costs += stride) {
    // 0 <= x - min - d < width
    const int begin = std::clamp(x - row.min_disparity - row.width + 1, 0, row.planes);
    const int end = std::clamp(x - row.min_disparity + 1, begin, row.planes);
    if (begin < end)
      pixel_costs<kHamming, kBytes>(row, kScaled ? row.left[2 * kBytes][x] : 0, x, begin, end, costs);
    if (begin > 0) std::memset(costs, row.outside_cost, static_cast<std::size_t>(begin));
    if (end < row.planes)
      std::memset(costs + end, row.outside_cost, static_cast<std::size_t>(row.planes - end));
  }
}

void costs_on_target(const CostRow& row, Transform transform, int first, int count, std::uint8_t* costs,
                     std::ptrdiff_t stride) {
  switch (transform) {
    case Transform::kRank:
      return cost_pixels<false, 1>(row, first, count, costs, stride);
    case Transform::kCensus5x5:
      return cost_pixels<true, 3>(row, first, count, costs, stride);
    case Transform::kCensus9x7:
      return cost_pixels<true, 8>(row, first, count, costs, stride);
    case Transform::kScaledCensus:
      return cost_pixels<true, 3, true>(row, first, count, costs, stride);
    default:
      return cost_pixels<true, 4>(row, first, count, costs, stride);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(transform_row);
HWY_EXPORT(weak_texture_row);
HWY_EXPORT(costs_on_target);

namespace {

std::ptrdiff_t row_pitch(int width) {
  return padded_count<std::uint8_t>(width) + 2 * TransformedImage::kMargin;
}

/// Elements from one row of the bordered image to the next: SIMD loops read one vector beyond the end.
std::ptrdiff_t bordered_pitch(int width) {
  return std::ptrdiff_t{width} + 2 * kMaxRadius + 64;
}

template <class Grey>
void copy_with_border(const Grey* from, int width, Grey* to) {
  std::fill_n(to, kMaxRadius, from[0]);
  std::copy_n(from, width, to + kMaxRadius);
  std::fill_n(to + kMaxRadius + width, kMaxRadius + 64, from[width - 1]);
}

/// An image with its borders repeated.
template <class Grey>
class BorderedImage {
 public:
  explicit BorderedImage(ImageView<const Grey> image)
      : width_(image.width),
        height_(image.height),
        pixels_(element_count({bordered_pitch(width_), height_})) {
    parallel_for(height_, [&](int y) {
      copy_with_border(image.row(y), width_, pixels_.data() + y * bordered_pitch(width_));
    });
  }

  /// Calls `each(y, around)` for all rows.
  /// @param scaled  for a scaled census
  template <class Each>
  void rows(bool scaled, const Each& each) const {
    const std::ptrdiff_t row_bytes = scaled ? CoarseRows<Grey>::bytes(width_) : 0;
    compute(
        [&](int threads) {
          return element_count({threads, row_bytes});
        },
        [&] {
          parallel_for(height_, [&](int y) {
            const AlignedBuffer<std::uint8_t> sums(element_count({row_bytes}));
            RowsAround around{{}, sizeof(Grey) == 2, const_cast<std::uint8_t*>(sums.data())};
            for (int j = -kMaxRadius; j <= kMaxRadius; ++j)
              around.rows[j + kMaxRadius] =
                  pixels_.data() + std::clamp(y + j, 0, height_ - 1) * bordered_pitch(width_) + kMaxRadius;
            each(y, around);
          });
        });
  }

 private:
  int width_, height_;
  AlignedBuffer<Grey> pixels_;
};

/// Of a transformed pixel.
int bytes_of(const TransformOptions& options) {
  if (options.transform == Transform::kScaledCensus) return 7;
  return options.transform == Transform::kRank ? 1 : (max_transform_cost(options) + 7) / 8;
}

}  // namespace

TransformedImage::TransformedImage(ImageView<const std::uint8_t> image, const TransformOptions& options,
                                   bool mirrored) {
  transform(image, options);
  if (options.transform == Transform::kScaledCensus) mark_weak_texture(image);
  if (mirrored) mirror();
}

TransformedImage::TransformedImage(ImageView<const std::uint16_t> image, ImageView<const std::uint8_t> grey,
                                   const TransformOptions& options, bool mirrored) {
  EXPECTS(grey.width == image.width && grey.height == image.height);
  transform(image, options);
  if (options.transform == Transform::kScaledCensus) mark_weak_texture(grey);
  if (mirrored) mirror();
}

template <class Grey>
void TransformedImage::transform(ImageView<const Grey> image, const TransformOptions& options) {
  EXPECTS(image.width > 0 && image.height > 0);
  EXPECTS(options.rank_window >= 3 && options.rank_window <= kMaxRankWindow && options.rank_window % 2 == 1);
  width_ = image.width;
  height_ = image.height;
  bytes_ = bytes_of(options);
  pitch_ = row_pitch(width_);
  buffer_ = AlignedBuffer<std::uint8_t>(element_count({pitch_, bytes_, height_}));
  const BorderedImage<Grey> bordered(image);
  bordered.rows(options.transform == Transform::kScaledCensus, [&](int y, const RowsAround& around) {
    std::uint8_t* out[8];
    for (int b = 0; b < bytes_; ++b) out[b] = mutable_row(y, b);
    HWY_DYNAMIC_DISPATCH(transform_row)(around, width_, options, out);
  });
}

void TransformedImage::mark_weak_texture(ImageView<const std::uint8_t> grey) {
  const BorderedImage<std::uint8_t> bordered(grey);
  bordered.rows(true, [&](int y, const RowsAround& around) {
    HWY_DYNAMIC_DISPATCH(weak_texture_row)(around, width_, mutable_row(y, bytes_ - 1));
  });
}

void TransformedImage::mirror() {
  parallel_for(height_, [&](int y) {
    for (int b = 0; b < bytes_; ++b) std::reverse(mutable_row(y, b), mutable_row(y, b) + width_);
  });
}

void transform_costs(const TransformedImage& left, const TransformedImage& right,
                     const TransformOptions& options, int min_disparity, int planes, int outside_cost, int y,
                     int first, int count, std::uint8_t* costs, std::ptrdiff_t stride) {
  EXPECTS(left.width() == right.width() && left.height() == right.height());
  EXPECTS(y >= 0 && y < left.height() && first >= 0 && count >= 0 && first + count <= left.width());
  EXPECTS(outside_cost >= 0 && outside_cost <= 255 && planes >= 1 && stride >= planes && stride % 64 == 0);
  CostRow row{{}, {}, left.width(), min_disparity, planes, static_cast<std::uint8_t>(outside_cost)};
  for (int b = 0; b < left.bytes(); ++b) {
    row.left[b] = left.row(y, b);
    row.right[b] = right.row(y, b);
  }
  HWY_DYNAMIC_DISPATCH(costs_on_target)(row, options.transform, first, count, costs, stride);
}

}  // namespace recon
#endif
