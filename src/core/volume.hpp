#pragma once

#include <cstddef>

#include "core/aligned_buffer.hpp"

namespace recon {

/// A view of costs by (y, d, x): x is fastest and every (y, d) row starts at a multiple of 64 bytes.
template <class T>
struct VolumeView {
  T* data = nullptr;
  int width = 0;
  int planes = 0;
  int height = 0;
  std::ptrdiff_t pitch = 0;

  T* row(int y, int d) const { return data + (static_cast<std::ptrdiff_t>(y) * planes + d) * pitch; }
  T& operator()(int x, int y, int d) const {
    ASSERT(x >= 0 && x < width && y >= 0 && y < height && d >= 0 && d < planes);
    return row(y, d)[x];
  }
  operator VolumeView<const T>() const { return {data, width, planes, height, pitch}; }
};

/// Owner of a volume, uninitialised. Move-only.
template <class T>
class Volume {
 public:
  Volume() = default;
  Volume(int width, int planes, int height)
      : width_(width),
        planes_(planes),
        height_(height),
        pitch_(padded_count<T>(width)),
        buffer_(element_count({pitch_, planes, height})) {}

  /// Bytes of a volume of this shape.
  static std::size_t bytes(int width, int planes, int height) {
    return element_count({padded_count<T>(width), planes, height, sizeof(T)});
  }

  int width() const { return width_; }
  int planes() const { return planes_; }
  int height() const { return height_; }
  VolumeView<T> view() { return {buffer_.data(), width_, planes_, height_, pitch_}; }
  VolumeView<const T> view() const { return {buffer_.data(), width_, planes_, height_, pitch_}; }

 private:
  int width_ = 0;
  int planes_ = 0;
  int height_ = 0;
  std::ptrdiff_t pitch_ = 0;
  AlignedBuffer<T> buffer_;
};

}  // namespace recon
