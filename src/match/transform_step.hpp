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

}  // namespace recon
