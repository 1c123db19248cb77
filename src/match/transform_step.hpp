#pragma once

#include <cstdint>

#include "core/hd.hpp"

namespace recon {

/// Local transforms of a grey image whose values are matched instead of the grey levels; all are invariant to
/// monotonic changes of brightness. Windows beyond the border repeat the border pixels.
enum class Transform {
  kRank,             ///< number of pixels of the window darker than its centre; cost: |difference|
  kCensus5x5,        ///< a bit per pixel of the window: darker than the centre? 24 bits; cost: Hamming
  kCensus9x7,        ///< 9 wide, 7 high, 62 bits
  kSymmetricCensus,  ///< 9 x 7, each pixel compared with the opposite one, 31 bits
  kScaledCensus,     ///< kCensus5x5, of means of 3 x 3 pixels where the texture is weak; see scaled_census_of
};

inline constexpr int kMaxRankWindow = 15;

struct TransformOptions {
  Transform transform = Transform::kCensus5x5;
  int rank_window = 9;  ///< side of the rank window, odd, 3 .. kMaxRankWindow
};

/// The largest cost between two transformed pixels.
constexpr int max_transform_cost(const TransformOptions& options) {
  switch (options.transform) {
    case Transform::kRank:
      return options.rank_window * options.rank_window - 1;
    case Transform::kCensus5x5:
    case Transform::kScaledCensus:
      return 24;
    case Transform::kCensus9x7:
      return 62;
    default:
      return 31;
  }
}

/// The transforms of one pixel. `at(i, j)` gives the grey level (any unsigned integer) at offset (i, j) from
/// it, the border repeated.

/// Rank of R. Zabih and J. Woodfill, ECCV 1994: the number of pixels in the window of side 2 `radius` + 1
/// that are darker than the centre, 0 .. (2 radius + 1)^2 - 1.
template <class At>
RECON_HD std::uint8_t rank_of(int radius, const At& at) {
  const auto centre = at(0, 0);
  int darker = 0;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i) darker += at(i, j) < centre ? 1 : 0;
  return static_cast<std::uint8_t>(darker);
}

/// Census of the same authors over the window (2 RX + 1) x (2 RY + 1): a bit per pixel, row by row from the
/// upper left one (the most significant bit), without the centre; 1 where the pixel is darker than the
/// centre.
template <int RX, int RY, class At>
RECON_HD std::uint64_t census_of(const At& at) {
  const auto centre = at(0, 0);
  std::uint64_t bits = 0;
  for (int j = -RY; j <= RY; ++j)
    for (int i = -RX; i <= RX; ++i)
      if (i != 0 || j != 0) bits = bits << 1 | (at(i, j) < centre ? 1u : 0u);
  return bits;
}

/// Symmetric census over 9 x 7 pixels: compares each pixel of the first half of the window, row by row, with
/// the opposite one; 1 where it is darker. 31 bits. Source: R. Spangenberg, T. Langner and R. Rojas,
/// "Weighted semi-global matching and center-symmetric census transform", CAIP 2013.
template <class At>
RECON_HD std::uint32_t symmetric_census_of(const At& at) {
  std::uint32_t bits = 0;
  for (int k = 0; k < 31; ++k) {
    const int i = k % 9 - 4, j = k / 9 - 3;
    bits = bits << 1 | (at(i, j) < at(-i, -j) ? 1u : 0u);
  }
  return bits;
}

/// Pixels between the samples of the coarse census, each the mean of as many pixels squared: noise averages
/// out, and no pixel is left out.
inline constexpr int kCoarseStep = 3;

/// The sum of the 3 x 3 pixels around offset (step i, step j).
template <class At>
RECON_HD std::uint32_t coarse_sum(const At& at, int i, int j) {
  std::uint32_t sum = 0;
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u) sum += at(kCoarseStep * i + u, kCoarseStep * j + v);
  return sum;
}

/// The largest minus the smallest value of the 5 x 5 around a pixel.
template <class At>
RECON_HD std::uint32_t range_5x5(const At& at) {
  std::uint32_t least = at(0, 0), most = least;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const std::uint32_t value = at(i, j);
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
  return most - least;
}

/// Noise decides the census where grey levels (of 8 bits) have a smaller range.
inline constexpr std::uint32_t kMinCensusRange = 8;
/// Larger ranges of coarse means are depth edges: the coarse window would carry the surface beyond them.
inline constexpr std::uint32_t kMaxCoarseRange = 16;

/// Whether the coarse census says more about a pixel. @param range  range_5x5 of the 8-bit image
RECON_HD bool is_weak_texture(std::uint32_t range, std::uint32_t coarse_range) {
  return range < kMinCensusRange && coarse_range <= kMaxCoarseRange * kCoarseStep * kCoarseStep;
}
/// @param at  of the 8-bit image
template <class At>
RECON_HD bool has_weak_texture(const At& at) {
  const auto sum = [&](int i, int j) { return coarse_sum(at, i, j); };
  return is_weak_texture(range_5x5(at), range_5x5(sum));
}

/// Census of two scales: bits 0 to 23 are the census of the 5 x 5 pixels, 24 to 47 that of the 5 x 5 means.
/// Bit 48, kWeakTextureBit, is for has_weak_texture.
template <class At>
RECON_HD std::uint64_t scaled_census_of(const At& at) {
  const auto sum = [&](int i, int j) { return coarse_sum(at, i, j); };
  return census_of<2, 2>(sum) << 24 | census_of<2, 2>(at);
}
inline constexpr std::uint64_t kWeakTextureBit = std::uint64_t{1} << 48;

/// The bits of two scaled censuses that differ, in the scale of the left pixel.
RECON_HD std::uint32_t scaled_census_difference(std::uint64_t left, std::uint64_t right) {
  const std::uint64_t bits = left ^ right;
  return static_cast<std::uint32_t>((left & kWeakTextureBit) != 0 ? bits >> 24 : bits) & 0xFFFFFFu;
}

}  // namespace recon
