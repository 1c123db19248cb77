#pragma once

#include "core/hd.hpp"

namespace recon::cuda {

/// Planes that lie together: 16 bytes where they take a byte each.
inline constexpr int kPiecePlanes = 16;

/// Where the bytes of a pixel have plane d when pairs of 16 bits are to come out of a word with one
/// instruction: word i of a piece holds the planes 2i, 2i + 1, 2i + 8, 2i + 9.
RECON_HD int plane_byte(int plane) {
  const int in_piece = plane % kPiecePlanes, in_half = in_piece % 8;
  return plane - in_piece + in_half / 2 * 4 + in_piece / 8 * 2 + in_half % 2;
}

}  // namespace recon::cuda
