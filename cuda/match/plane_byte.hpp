#pragma once

#include "core/hd.hpp"

namespace recon::cuda {

/// Planes per piece: 16 bytes with one byte each.
inline constexpr int kPiecePlanes = 16;

/// Byte index of plane d in a pixel's costs, chosen so that one instruction expands a word to pairs of 16
/// bits: word i of a piece holds the planes 2i, 2i + 1, 2i + 8, 2i + 9.
RECON_HD int plane_byte(int plane) {
  const int in_piece = plane % kPiecePlanes, in_half = in_piece % 8;
  return plane - in_piece + in_half / 2 * 4 + in_piece / 8 * 2 + in_half % 2;
}

}  // namespace recon::cuda
