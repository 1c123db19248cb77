#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "match/combine_step.hpp"
#include "match/cost_step.hpp"
#include "match/cpu_sweep.hpp"

/// The working memory of the CPU sweep of one tile. It fits into the L1 and L2 caches.

namespace recon {

/// SIMD loops may access this many elements beyond the end of a row.
inline constexpr int kRowSlack = 64;

/// A zeroed, aligned row of numbers.
template <class T>
class AlignedRow {
 public:
  AlignedRow() = default;
  void resize(int count) {
    buffer_ = AlignedBuffer<T>(count);
    count_ = count;
    clear();
  }
  void clear() { std::fill_n(buffer_.data(), count_, T{}); }
  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }

 private:
  AlignedBuffer<T> buffer_;
  int count_ = 0;
};

/// Position of a tile and the windows around it in the image: `columns` from tile.x - R; those from
/// `first_inside` are columns `image_x` .. `image_x + image_width - 1` of the image.
struct TileFrame {
  TileFrame(const PosedImage& reference, const Tile& tile, int radius)
      : columns(tile.width + 2 * radius),
        rows(tile.height + 2 * radius),
        stride(static_cast<int>(padded_count<std::uint8_t>(columns + kRowSlack))),
        image_x(std::max(tile.x - radius, 0)),
        image_width(std::min(tile.x + tile.width + radius, reference.camera.width) - image_x),
        first_inside(image_x - (tile.x - radius)),
        top(tile.y - radius),
        image_height(reference.camera.height),
        window(2 * radius + 1) {}

  /// The image row of row `t` of the frame.
  int image_row(int t) const { return std::clamp(top + t, 0, image_height - 1); }

  int columns, rows, stride, image_x, image_width, first_inside, top, image_height, window;
};

/// The reference rows of a tile with repeated borders, and for ZNCC the window sums of the reference.
class ReferenceRows {
 public:
  ReferenceRows(const PosedImage& reference, const TileFrame& frame, bool with_sums) : frame_(frame) {
    pixels_.resize(frame.stride * (frame.rows * reference.channels + 1));
    for (int c = 0; c < reference.channels; ++c)
      for (int t = 0; t < frame.rows; ++t) {
        const std::uint8_t* in = reference.channel[c].row(frame.image_row(t));
        std::uint8_t* out = pixels_.data() + (c * frame.rows + t + 1) * frame.stride;
        for (int i = 0; i < frame.columns; ++i)
          out[i] = in[std::clamp(frame.image_x - frame.first_inside + i, frame.image_x,
                                 frame.image_x + frame.image_width - 1)];
      }
    if (with_sums) sum_windows();
  }

  /// Row t of channel c; a row of zeros for t < 0.
  const std::uint8_t* row(int c, int t) const {
    return pixels_.data() + (t < 0 ? 0 : (c * frame_.rows + t + 1) * frame_.stride);
  }
  const std::uint32_t* sum(int y) const { return sums_.data() + y * frame_.stride; }
  const std::int32_t* variance(int y) const { return variances_.data() + y * frame_.stride; }

 private:
  void sum_windows() {
    const int height = frame_.rows - frame_.window + 1;
    sums_.resize(frame_.stride * height);
    variances_.resize(frame_.stride * height);
    std::vector<std::uint32_t> column(frame_.columns), square(column);
    for (int t = 0; t < frame_.rows; ++t) {
      const std::uint8_t* entering = row(0, t);
      const std::uint8_t* leaving = row(0, t - frame_.window);
      for (std::size_t i = 0; i < column.size(); ++i) {
        column[i] += entering[i] - std::uint32_t{leaving[i]};
        square[i] += entering[i] * std::uint32_t{entering[i]} - leaving[i] * std::uint32_t{leaving[i]};
      }
      const int y = t - frame_.window + 1;
      if (y < 0) continue;
      const std::uint32_t n = static_cast<std::uint32_t>(frame_.window * frame_.window);
      std::uint32_t sum = 0, squares = 0;
      for (int i = 0; i < frame_.columns; ++i) {
        sum += column[i];
        squares += square[i];
        const int x = i - frame_.window + 1;
        if (x < 0) continue;
        sums_.data()[y * frame_.stride + x] = sum;
        variances_.data()[y * frame_.stride + x] = scaled_variance(n, sum, squares);
        sum -= column[x];
        squares -= square[x];
      }
      ASSERT(y < height && frame_.columns >= frame_.window);
    }
  }

  TileFrame frame_;
  AlignedRow<std::uint8_t> pixels_;
  AlignedRow<std::uint32_t> sums_;
  AlignedRow<std::int32_t> variances_;
};

/// The sliding windows over one channel of one warped source: a ring of the rows in the window (for ZNCC the
/// warped pixels, for SAD the absolute differences), their visibility in the source, and the sums of each
/// column.
class SourceWindow {
 public:
  SourceWindow(const TileFrame& frame, CostKind cost) : ring_(frame.window + 1), stride_(frame.stride) {
    rows_.resize((ring_ + 2) * stride_);
    seen_.resize(ring_ * stride_);
    if (correlates(cost))
      sums_.resize(3 * stride_);
    else
      narrow_sums_.resize(stride_);
  }

  void clear() {
    sums_.clear();
    narrow_sums_.clear();
  }
  /// Row t of the ring; a row of zeros for t < 0.
  std::uint8_t* row(int t) { return rows_.data() + (t < 0 ? ring_ : t % ring_) * stride_; }
  std::uint8_t* scratch() { return rows_.data() + (ring_ + 1) * stride_; }
  std::uint8_t* seen(int t) { return seen_.data() + t % ring_ * stride_; }
  std::uint32_t* sum(int i) { return sums_.data() + i * stride_; }
  std::uint16_t* narrow_sum() { return narrow_sums_.data(); }

 private:
  int ring_, stride_;
  AlignedRow<std::uint8_t> rows_, seen_;
  AlignedRow<std::uint32_t> sums_;
  AlignedRow<std::uint16_t> narrow_sums_;
};

/// Per pixel of a row: the K best costs so far, or (mean) their sum and number.
class CombinationRows {
 public:
  CombinationRows(const CostOptions& options, int width)
      : mean_(options.combination == Combination::kMean),
        rows_(mean_ ? 2 : (options.combination == Combination::kMinimum ? 1 : options.best_k)),
        stride_(width + kRowSlack) {
    costs_.resize(rows_ * stride_);
  }

  void clear() { std::fill_n(costs_.data(), rows_ * stride_, mean_ ? 0.0f : invalid_cost()); }
  int rows() const { return rows_; }
  float* row(int k) { return costs_.data() + k * stride_; }
  int stride() const { return stride_; }

 private:
  bool mean_;
  int rows_, stride_;
  AlignedRow<float> costs_;
};

}  // namespace recon
