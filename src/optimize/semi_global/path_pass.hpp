#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "optimize/semi_global/path_buffers.hpp"

namespace recon {

/// Use of the path sums of a pass.
enum class PathSums {
  kNone,    ///< only the front advances; the path along the row is skipped
  kStored,  ///< stored for the other pass
  kWinner,  ///< added to those of the other pass
};

/// A pass over the image: half of the directions.
template <class T>
struct PathPass {
  ImageView<const std::uint8_t> guide;
  int width, height;
  int rows_in_work;
  int planes;
  std::ptrdiff_t padded;  ///< elements per pixel
  int sign;               ///< 1: downwards and to the right; -1: upwards and to the left
  bool diagonals;
  int p1;
  const T* p2;                       ///< 256 values by grey-level difference
  const T* behind;                   ///< `padded` elements: all ones after the last plane, otherwise 0
  const T* first;                    ///< `padded` elements: all ones in the first, otherwise 0
  const T* last;                     ///< the same for the last plane
  const std::uint16_t* behind_sums;  ///< the same for sums
  bool right_view;
  int min_disparity;
  PathFront<T>* front;
  PathSums sums;

  int x(int i) const { return sign > 0 ? i : width - 1 - i; }
  int y(int r) const { return sign > 0 ? r : height - 1 - r; }
};

/// The paths of one direction along a row: the path through one pixel; that through the next pixel is in the
/// next slot.
template <class T>
struct PathLine {
  T* path = nullptr;      ///< L of the previous pixel, replaced in each step
  T* min_cost = nullptr;  ///< its minimum, replaced in each step
  int before_wrap = 0;    ///< slots up to the last one

  PathLine() = default;
  PathLine(PathSlots<T>& slots, int slot)
      : path(slots.costs(slot)), min_cost(&slots.min_cost(slot)), before_wrap(slots.slots() - slot) {}

  void begin(int planes) const {
    std::fill_n(path, planes, T{0});
    *min_cost = 0;
  }
  void advance(std::ptrdiff_t padded, int slots) {
    path += padded;
    ++min_cost;
    if (--before_wrap > 0) return;
    path -= slots * padded;
    min_cost -= slots;
    before_wrap = slots;
  }
};

/// The paths through a pixel of row r: along the row, vertical, and by (1, 1) and (-1, 1). Members are
/// copies, so that the compiler knows that no store changes them.
template <class T, bool kDiagonals>
struct PathPixel {
  PathPixel(const PathPass<T>& pass, PathRow<T>& row, int r, int column)
      : along(row.along, 0), straight(pass.front->straight, column) {
    const std::uint8_t* here = pass.guide.row(pass.y(r));
    const std::uint8_t* above = r == 0 ? here : pass.guide.row(pass.y(r - 1));
    grey_here = here + pass.x(column);
    grey_above = above + pass.x(column);
    if constexpr (kDiagonals) {
      forward = {pass.front->forward, pass.front->forward_slot(column, r)};
      backward = {pass.front->backward, pass.front->backward_slot(column, r)};
    }
  }

  /// Initialises the paths from the row above that start at this pixel.
  void begin_from_above(const PathPass<T>& pass, int i, int r) const {
    if (r == 0) straight.begin(pass.planes);
    if constexpr (kDiagonals) {
      if (i == 0 || r == 0) forward.begin(pass.planes);
      if (i == pass.width - 1 || r == 0) backward.begin(pass.planes);
    }
  }

  /// P2 of the step from the pixel at `greys`.
  T p2(const PathPass<T>& pass, const std::uint8_t* greys) const {
    return pass.p2[std::abs(*grey_here - *greys)];
  }

  void advance(const PathPass<T>& pass) {
    straight.path += pass.padded;
    ++straight.min_cost;
    grey_here += pass.sign;
    grey_above += pass.sign;
    if constexpr (kDiagonals) {
      forward.advance(pass.padded, pass.width + pass.rows_in_work);
      backward.advance(pass.padded, pass.width);
    }
  }

  PathLine<T> along, straight, forward, backward;
  const std::uint8_t *grey_here, *grey_above;
};

}  // namespace recon
