#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "match/transform_step.hpp"

namespace recon {

/// A transformed image stored as rows of bytes: byte b of all pixels of a row is contiguous; b = 0 holds the
/// first bits of the census. A pixel has one byte for a rank, the bits of a census divided by eight; of a
/// scaled census three for each scale, and one that is 3 where the texture is weak, else 0: the first byte to
/// compare. Rows of a mirrored image run from right to left. SIMD loops may read `kMargin`
/// bytes before and after a row.
class TransformedImage {
 public:
  static constexpr int kMargin = 64;

  /// Transforms an image; see transform_step.hpp.
  /// @throws std::logic_error when the rank window is even or out of range
  TransformedImage(ImageView<const std::uint8_t> image, const TransformOptions& options, bool mirrored);
  /// @param grey  the same image with 8 bits, which says where texture is weak
  TransformedImage(ImageView<const std::uint16_t> image, ImageView<const std::uint8_t> grey,
                   const TransformOptions& options, bool mirrored);

  int width() const { return width_; }
  int height() const { return height_; }
  int bytes() const { return bytes_; }
  const std::uint8_t* row(int y, int b) const {
    return buffer_.data() + (static_cast<std::ptrdiff_t>(y) * bytes_ + b) * pitch_ + kMargin;
  }

 private:
  template <class Grey>
  void transform(ImageView<const Grey> image, const TransformOptions& options);
  void mark_weak_texture(ImageView<const std::uint8_t> grey);
  void mirror();
  std::uint8_t* mutable_row(int y, int b) { return const_cast<std::uint8_t*>(row(y, b)); }

  int width_, height_, bytes_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<std::uint8_t> buffer_;
};

/// Computes the costs of pixels first .. first + count - 1 of row y. The cost of pixel x at disparity min +
/// d, 0 <= d < planes, is stored in costs[(x - first) * stride + d]: |difference| of ranks, Hamming distance
/// of censuses (see scaled_census_difference), or `outside_cost` where x - min - d is outside the right
/// image. The padding after the planes is overwritten.
/// @param right   mirrored
/// @param stride  a multiple of 64
void transform_costs(const TransformedImage& left, const TransformedImage& right,
                     const TransformOptions& options, int min_disparity, int planes, int outside_cost, int y,
                     int first, int count, std::uint8_t* costs, std::ptrdiff_t stride);

}  // namespace recon
