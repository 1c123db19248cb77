#include "match/ad_census.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "match/transformed_image.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/ad_census.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// sums[x] = |a_r - b_r| + |a_g - b_g| + |a_b - b_b| for x < count. SIMD loops may run up to one vector
/// beyond.
/// @param a, b  a row of bytes per channel
void channel_sums(const std::uint8_t* const* a, const std::uint8_t* const* b, int count,
                  std::uint16_t* sums) {
  const hn::CappedTag<std::uint16_t, TransformedImage::kMargin> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto difference = [&](int c, int x) {
    const auto p = hn::LoadU(d8, a[c] + x), q = hn::LoadU(d8, b[c] + x);
    return hn::PromoteTo(d16, hn::Sub(hn::Max(p, q), hn::Min(p, q)));
  };
  for (int x = 0; x < count; x += lanes)
    hn::StoreU(hn::Add(hn::Add(difference(0, x), difference(1, x)), difference(2, x)), d16, sums + x);
}

/// bits[x] = Hamming distance of 8 rows of bytes at x, likewise.
void hamming_distances(const std::uint8_t* const* a, const std::uint8_t* const* b, int count,
                       std::uint8_t* bits) {
  const hn::CappedTag<std::uint8_t, TransformedImage::kMargin> d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  for (int x = 0; x < count; x += lanes) {
    auto sum = hn::Zero(d8);
    for (int i = 0; i < 8; ++i)
      sum = hn::Add(sum, hn::PopulationCount(hn::Xor(hn::LoadU(d8, a[i] + x), hn::LoadU(d8, b[i] + x))));
    hn::StoreU(sum, d8, bits + x);
  }
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(channel_sums);
HWY_EXPORT(hamming_distances);

namespace {

constexpr int kMargin = TransformedImage::kMargin;

/// One row of an image as rows of bytes. The rows of the other view are padded with their border columns by
/// one width on each side; columns farther out have the same values.
class ByteRows {
 public:
  ByteRows(int width, int rows, bool continued)
      : width_(width),
        side_(continued ? width : 0),
        pitch_(std::ptrdiff_t{width} + 2 * side_ + kMargin),
        buffer_(element_count({pitch_, rows})) {}

  std::uint8_t* row(int i) { return buffer_.data() + i * pitch_ + side_; }
  void continue_row(int i) {
    std::uint8_t* to = row(i);
    std::fill(to - side_, to, to[0]);
    std::fill(to + width_, to + width_ + side_, to[width_ - 1]);
  }
  /// Pointers to column `shift` of the first `count` rows.
  template <std::size_t kCount>
  void at(int first, int shift, std::array<const std::uint8_t*, kCount>& rows) {
    for (std::size_t i = 0; i < kCount; ++i) rows[i] = row(first + static_cast<int>(i)) + shift;
  }

 private:
  int width_;
  std::ptrdiff_t side_, pitch_;
  AlignedBuffer<std::uint8_t> buffer_;
};

constexpr int kChannels = 3, kCensusBytes = 8;

void split_row(const Rgb8* pixels, int width, ByteRows& rows) {
  for (int x = 0; x < width; ++x) {
    rows.row(0)[x] = pixels[x].r;
    rows.row(1)[x] = pixels[x].g;
    rows.row(2)[x] = pixels[x].b;
  }
}

void copy_census(const TransformedImage& census, int y, ByteRows& rows) {
  for (int b = 0; b < kCensusBytes; ++b)
    std::copy_n(census.row(y, b), census.width(), rows.row(kChannels + b));
}

Image<std::uint8_t> grey_image(ImageView<const Rgb8> image) {
  Image<std::uint8_t> grey(image.width, image.height);
  parallel_for(image.height, [&](int y) {
    for (int x = 0; x < image.width; ++x) grey(x, y) = static_cast<std::uint8_t>(grey_of(image(x, y)));
  });
  return grey;
}

void fill_costs(const ColourPair& pair, PairSide side, int min_disparity, const CostTables& tables,
                const TransformedImage* census, const TransformedImage* other_census,
                VolumeView<float> costs) {
  const bool left = side == PairSide::kLeft;
  const ImageView<const Rgb8> image = left ? pair.left : pair.right, other = left ? pair.right : pair.left;
  const int width = image.width, kinds = kChannels + (census != nullptr ? kCensusBytes : 0);
  const auto bytes = [&](int threads) {
    const std::ptrdiff_t row = width + kMargin;
    return element_count({threads, (2 * kinds + 3) * row + 2 * kinds * std::ptrdiff_t{width}});
  };
  const auto fill_row = [&](int y) {
    ByteRows here(width, kinds, false), there(width, kinds, true);
    AlignedBuffer<std::uint16_t> sums(static_cast<std::size_t>(width) + kMargin);
    AlignedBuffer<std::uint8_t> bits(static_cast<std::size_t>(width) + kMargin);
    split_row(image.row(y), width, here);
    split_row(other.row(y), width, there);
    if (census != nullptr) copy_census(*census, y, here), copy_census(*other_census, y, there);
    for (int i = 0; i < kinds; ++i) there.continue_row(i);
    std::array<const std::uint8_t*, kChannels> colour, other_colour;
    std::array<const std::uint8_t*, kCensusBytes> census_rows, other_census_rows;
    here.at(0, 0, colour);
    for (int d = 0; d < costs.planes; ++d) {
      const int shift = std::clamp(matching_column(side, 0, min_disparity + d), -width, width);
      there.at(0, shift, other_colour);
      HWY_DYNAMIC_DISPATCH(channel_sums)(colour.data(), other_colour.data(), width, sums.data());
      float* out = costs.row(y, d);
      if (census == nullptr) {
        for (int x = 0; x < width; ++x) out[x] = tables.by_sum[sums.data()[x]];
        continue;
      }
      here.at(kChannels, 0, census_rows);
      there.at(kChannels, shift, other_census_rows);
      HWY_DYNAMIC_DISPATCH(hamming_distances)
      (census_rows.data(), other_census_rows.data(), width, bits.data());
      for (int x = 0; x < width; ++x) out[x] = tables.by_bits[bits.data()[x]] + tables.by_sum[sums.data()[x]];
    }
  };
  compute(bytes, [&] { parallel_for(image.height, fill_row); });
}

void check_sizes(const ColourPair& pair, int min_disparity, VolumeView<float> costs) {
  EXPECTS(!pair.left.empty() && costs.planes >= 1);
  EXPECTS(pair.left.width == pair.right.width && pair.left.height == pair.right.height);
  EXPECTS(pair.left.width == costs.width && pair.left.height == costs.height);
  EXPECTS(min_disparity >= -(1 << 24) && min_disparity <= 1 << 24);
}

}  // namespace

CostTables colour_difference_tables(float cap) {
  EXPECTS(cap > 0.0f);
  CostTables tables;
  for (int s = 0; s <= kMaxChannelSum; ++s) tables.by_sum[s] = std::min(mean_difference(s), cap);
  return tables;
}

CostTables ad_census_tables(const AdCensusOptions& options) {
  EXPECTS(options.lambda_ad > 0.0f && options.lambda_census > 0.0f);
  CostTables tables;
  for (int s = 0; s <= kMaxChannelSum; ++s)
    tables.by_sum[s] = saturated(mean_difference(s), options.lambda_ad);
  for (int b = 0; b <= kMaxAdCensusBits; ++b)
    tables.by_bits[b] = saturated(static_cast<float>(b), options.lambda_census);
  return tables;
}

void colour_difference_costs(const ColourPair& pair, PairSide side, int min_disparity, float cap,
                             VolumeView<float> costs) {
  check_sizes(pair, min_disparity, costs);
  fill_costs(pair, side, min_disparity, colour_difference_tables(cap), nullptr, nullptr, costs);
}

void ad_census_costs(const ColourPair& pair, PairSide side, int min_disparity, const AdCensusOptions& options,
                     VolumeView<float> costs) {
  check_sizes(pair, min_disparity, costs);
  const CostTables tables = ad_census_tables(options);
  const TransformOptions transform{Transform::kCensus9x7};
  const TransformedImage left(grey_image(pair.left).view(), transform, false),
      right(grey_image(pair.right).view(), transform, false);
  const bool is_left = side == PairSide::kLeft;
  fill_costs(pair, side, min_disparity, tables, is_left ? &left : &right, is_left ? &right : &left, costs);
}

}  // namespace recon
#endif
