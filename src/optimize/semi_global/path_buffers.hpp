#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/aligned_buffer.hpp"
#include "optimize/semi_global/semi_global.hpp"

/// The memory of the semi-global optimizer. A pass traverses the image in its own coordinates, row r and
/// column i from 0: downwards and to the right, or upwards and to the left.

namespace recon {

/// The path costs L of the last pixel of each path of one direction. A path keeps its slot from pixel to
/// pixel. The padding after the last plane is `kEnd` and never wins. SIMD loops read one element before a
/// slot and one vector after it.
template <class T>
class PathSlots {
 public:
  static constexpr T kEnd = static_cast<T>(-1);

  PathSlots() = default;
  PathSlots(int slots, int planes)
      : slots_(slots), planes_(planes), stride_(cost_stride(planes)), buffer_(count(slots, planes)) {
    std::fill_n(buffer_.data(), count(slots, planes), kEnd);
  }

  T* costs(int slot) { return buffer_.data() + kLead + slot * stride_; }
  /// min_k L(p, k)
  T& min_cost(int slot) { return buffer_.data()[kLead + slots_ * stride_ + kTail + slot]; }

  int slots() const { return slots_; }
  std::size_t count() const { return count(slots_, planes_); }
  T* data() { return buffer_.data(); }

  static std::size_t count(int slots, int planes) {
    return slots == 0 ? 0 : element_count({slots, cost_stride(planes) + 1}) + std::size_t{kLead + kTail};
  }

 private:
  static constexpr std::ptrdiff_t kLead = 64, kTail = 128;

  int slots_ = 0, planes_ = 0;
  std::ptrdiff_t stride_ = 0;
  AlignedBuffer<T> buffer_;
};

/// The paths of a pass from the row above: vertical and, with 8 directions, the two diagonals.
template <class T>
struct PathFront {
  PathFront(int width, int planes, bool diagonals, int rows_in_work)
      : straight(width, planes),
        forward(diagonals ? width + rows_in_work : 0, planes),
        backward(diagonals ? width : 0, planes),
        columns(width),
        forward_slots(width + rows_in_work) {}

  /// Slot of the path through (i, r) that steps by (1, 1): i - r is constant. The slot's previous path has
  /// ended `rows_in_work` rows earlier, so that rows processed at the same time do not conflict.
  int forward_slot(int i, int r) const {
    const int slot = (i - r) % forward_slots;
    return slot < 0 ? slot + forward_slots : slot;
  }
  /// Slot of the path that steps by (-1, 1): i + r is constant.
  int backward_slot(int i, int r) const { return (i + r) % columns; }

  void save(T* to) {
    for (PathSlots<T>* slots : {&straight, &forward, &backward})
      to = std::copy_n(slots->data(), slots->count(), to);
  }
  void restore(const T* from) {
    for (PathSlots<T>* slots : {&straight, &forward, &backward}) {
      std::copy_n(from, slots->count(), slots->data());
      from += slots->count();
    }
  }

  static std::size_t count(int width, int planes, bool diagonals, int rows_in_work) {
    return PathSlots<T>::count(width, planes) * (diagonals ? 2 : 1) +
           (diagonals ? PathSlots<T>::count(width + rows_in_work, planes) : 0);
  }

  PathSlots<T> straight, forward, backward;
  int columns, forward_slots;
};

/// State of a row between its pieces.
template <class T>
struct PathRow {
  PathRow(int width, int planes)
      : along(1, planes), winners(static_cast<std::size_t>(width)), right(right_count(width)) {}

  /// The min sums of the right view and their planes, from right to left.
  std::uint16_t* right_sums() { return right.data() + kRightMargin; }
  std::uint16_t* right_planes(int width) {
    return right.data() + 3 * kRightMargin + padded_count<std::uint8_t>(width);
  }
  void clear_right(int width) { std::fill_n(right.data(), right_count(width), kNoSum); }
  /// The planes from left to right; kNoPlane where there is no match.
  const std::uint16_t* take_right(int width) {
    std::uint16_t* planes = right_planes(width);
    std::reverse(planes, planes + width);
    return planes;
  }

  static std::size_t bytes(int width, int planes) {
    return PathSlots<T>::count(1, planes) * sizeof(T) + static_cast<std::size_t>(width) * sizeof(PathWinner) +
           2 * right_count(width) + sizeof(PathRow) + 4 * kRowAlignment;
  }

  PathSlots<T> along;  ///< the path in the row
  AlignedBuffer<PathWinner> winners;
  AlignedBuffer<std::uint16_t> right;

 private:
  static constexpr std::ptrdiff_t kRightMargin = 64;
  static std::size_t right_count(int width) {
    return 2 * static_cast<std::size_t>(padded_count<std::uint8_t>(width) + 2 * kRightMargin);
  }
};

/// Working memory of a thread: costs and sums of a piece of a row.
struct PathPiece {
  PathPiece(int planes, int columns)
      : costs(element_count({columns, cost_stride(planes)})),
        sums(element_count({columns, cost_stride(planes)})) {}

  static std::size_t bytes(int planes, int columns) {
    return 3 * element_count({columns, cost_stride(planes)}) + sizeof(PathPiece) + 2 * kRowAlignment;
  }

  AlignedBuffer<std::uint8_t> costs;
  AlignedBuffer<std::uint16_t> sums;
};

}  // namespace recon
