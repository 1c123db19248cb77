#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "match/transform_options.hpp"

namespace recon {

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
