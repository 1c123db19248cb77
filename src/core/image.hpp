#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/aligned_buffer.hpp"
#include "core/error.hpp"

namespace recon {

/// An 8-bit colour pixel.
struct Rgb8 {
  std::uint8_t r, g, b;
  friend bool operator==(Rgb8 left, Rgb8 right) {
    return left.r == right.r && left.g == right.g && left.b == right.b;
  }
};

/// Marks an unknown depth, disparity, normal or confidence in memory.
inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// A non-owning view of pixels. Pixel (x, y), 0 <= x < width, has its centre at (x + 0.5, y + 0.5) in the
/// coordinates of the camera (see scene/pinhole.hpp); `pitch` counts elements from one row to the next.
template <class T>
struct ImageView {
  T* data = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t pitch = 0;

  T* row(int y) const { return data + y * pitch; }
  T& operator()(int x, int y) const {
    ASSERT(x >= 0 && x < width && y >= 0 && y < height);
    return data[y * pitch + x];
  }
  bool contains(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }
  bool empty() const { return width == 0 || height == 0; }
  operator ImageView<const T>() const { return {data, width, height, pitch}; }
};

/// A view of pixels that nobody reads: for its size only, as where memory is counted.
template <class T>
ImageView<const T> sized_view(int width, int height) {
  static const T kPixel{};
  return {&kPixel, width, height, padded_count<T>(width)};
}

/// Owner of an image; rows start at multiples of 64 bytes. Move-only: use `clone` for a copy.
template <class T>
class Image {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Image() = default;

  /// Uninitialised pixels, `width` x `height`, both >= 0.
  Image(int width, int height)
      : width_(width),
        height_(height),
        pitch_(padded_count<T>(width)),
        buffer_(element_count({pitch_, height})) {}

  Image(int width, int height, T value) : Image(width, height) { fill(value); }

  Image(Image&& other) noexcept { swap(other); }
  Image& operator=(Image&& other) noexcept {
    swap(other);
    return *this;
  }

  Image clone() const {
    Image copy(width_, height_);
    if (memory_is_counted()) return copy;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) copy(x, y) = (*this)(x, y);
    return copy;
  }

  void fill(T value) {
    if (memory_is_counted()) return;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) (*this)(x, y) = value;
  }

  int width() const { return width_; }
  int height() const { return height_; }
  std::ptrdiff_t pitch() const { return pitch_; }
  bool empty() const { return width_ == 0 || height_ == 0; }
  T* row(int y) { return buffer_.data() + y * pitch_; }
  const T* row(int y) const { return buffer_.data() + y * pitch_; }
  T& operator()(int x, int y) { return view()(x, y); }
  const T& operator()(int x, int y) const { return view()(x, y); }
  ImageView<T> view() { return {buffer_.data(), width_, height_, pitch_}; }
  ImageView<const T> view() const { return {buffer_.data(), width_, height_, pitch_}; }

 private:
  void swap(Image& other) noexcept {
    std::swap(width_, other.width_);
    std::swap(height_, other.height_);
    std::swap(pitch_, other.pitch_);
    buffer_.swap(other.buffer_);
  }

  int width_ = 0;
  int height_ = 0;
  std::ptrdiff_t pitch_ = 0;
  AlignedBuffer<T> buffer_;
};

}  // namespace recon
