#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/aligned_buffer.hpp"
#include "core/wavefront.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "optimize/semi_global/semi_global_step.hpp"

namespace recon {

/// Columns that a worker of the semi-global optimizer processes at a time.
inline constexpr int kPathColumns = 32;

/// Whether path costs need 16 bits.
inline bool wide_path_costs(const SemiGlobalOptions& options, int max_cost) {
  return max_cost + options.p2 > 255;
}

/// Whether the sums of L - C over the paths of one pass need 16 bits.
inline bool wide_path_sums(const SemiGlobalOptions& options, int max_cost) {
  return wide_path_costs(options, max_cost) || options.paths / 2 * options.p2 > 255;
}

/// Division of the image into blocks of rows by the semi-global optimizer. The sums of one block are in
/// memory at a time. Each block is processed three times, the first one twice.
struct PathBlocks {
  /// @param cell_bytes  bytes of the costs and sums per pixel and plane
  PathBlocks(int width, int height, int planes, std::size_t cell_bytes, int threads)
      : wave(wave_shape(width, threads)) {
    const double row_bytes =
        static_cast<double>(cell_bytes) * width * static_cast<double>(cost_stride(planes));
    const int cached = static_cast<int>(std::min(double{kCachedBytes} / row_bytes, 1e9));
    const int balanced = static_cast<int>(std::sqrt(static_cast<double>(height))) + 1;
    const int round = wave.rows_in_work(), rounds = std::max({balanced / round, 2, cached / round});
    rows = std::min(rounds * round, height);  // whole rounds: no worker waits for the last bands of others
    blocks = (height + rows - 1) / rows;
  }

  /// Blocks of this size mostly stay in the cache; with larger blocks fewer rows are processed twice.
  static constexpr int kCachedBytes = 24 << 20;

  WavefrontShape wave;
  int rows, blocks;

 private:
  static constexpr int kMaxBandRows = 8;

  /// Max rows per band that keep all threads busy; each band lags one piece per row behind the one above.
  static WavefrontShape wave_shape(int width, int threads) {
    const int pieces = (width + kPathColumns - 1) / kPathColumns;
    const int workers = std::clamp(threads, 1, std::max(1, pieces / 3));
    return {workers, std::clamp(pieces / (2 * workers), 1, kMaxBandRows), kPathColumns};
  }
};

/// The memory of the semi-global optimizer. A pass traverses the image in its own coordinates, row r and
/// column i from 0: downwards and to the right, or upwards and to the left.

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
  PathRow(int width, int planes) : along(1, planes), winners(width), right(right_count(width)) {}

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
