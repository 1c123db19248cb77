#pragma once

#include <cstddef>
#include <cstdint>

#include "optimize/path_buffers.hpp"

namespace recon {

/// What becomes of the sums of a pass's paths.
enum class PathSums {
  kNone,    ///< only the front moves on; the path in the row is left out
  kStored,  ///< for the other pass
  kWinner,  ///< added to those of the other pass
};

/// A pass over the image: half of the directions.
template <class T>
struct PathPass {
  ImageView<const std::uint8_t> guide;
  int width, height;
  int planes;
  std::ptrdiff_t padded;  ///< elements per pixel
  int sign;               ///< 1: downwards and to the right; -1: the other way
  bool diagonals;
  int p1;
  const int* p2;                     ///< by difference of grey levels, 256
  const T* behind;                   ///< `padded` elements: all ones behind the last plane, 0 before
  const std::uint16_t* behind_sums;  ///< the same for sums
  bool right_view;
  int min_disparity;
  PathFront<T>* front;
  PathSums sums;

  int x(int i) const { return sign > 0 ? i : width - 1 - i; }
  int y(int r) const { return sign > 0 ? r : height - 1 - r; }
};

}  // namespace recon
