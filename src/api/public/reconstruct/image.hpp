#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "reconstruct/error.hpp"

namespace reconstruct {

/// What a pixel of an image is. Several values are interleaved.
enum class PixelType {
  kGrey8,   ///< std::uint8_t
  kGrey16,  ///< std::uint16_t, of 8 to 16 bits
  kRgb8,    ///< red, green and blue, std::uint8_t each
};

/// An image of the caller, who keeps it unchanged during a call. Row y begins at
/// `static_cast<const char*>(data) + y * pitch`; pixel (x, y) has its centre at (x + 0.5, y + 0.5) in the
/// coordinates of cameras.
struct ImageView {
  const void* data = nullptr;
  int width = 0, height = 0;  ///< pixels, 1 .. 16384
  std::ptrdiff_t pitch = 0;   ///< bytes from one row to the next, at least those of a row; even for kGrey16
  PixelType type = PixelType::kGrey8;
};

/// Three floats, such as a normal.
struct Vector3f {
  float x = 0, y = 0, z = 0;
};

/// A map of the caller, who keeps it unchanged during a call; empty where `data` is null.
template <class T>
struct MapView {
  const T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next, a multiple of sizeof(T)
};

namespace detail {
[[noreturn]] inline void throw_no_row(int rows, int y) {
  throw UsageError("a map of " + std::to_string(rows) + " rows has no row " + std::to_string(y) +
                   (rows == 0 ? "; it is empty, or was moved from" : ""));
}
}  // namespace detail

/// A map of the library: a copy shares its values, which live as long as one copy does. One that was moved
/// from is empty.
template <class T>
struct Map {
  std::shared_ptr<T> data;  ///< the first row
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next, a multiple of 64

  Map() = default;
  Map(std::shared_ptr<T> values, int map_width, int map_height, std::ptrdiff_t map_pitch)
      : data(std::move(values)), width(map_width), height(map_height), pitch(map_pitch) {}
  Map(const Map&) = default;
  Map& operator=(const Map&) = default;
  Map(Map&& other) noexcept
      : data(std::move(other.data)),
        width(std::exchange(other.width, 0)),
        height(std::exchange(other.height, 0)),
        pitch(std::exchange(other.pitch, 0)) {}
  Map& operator=(Map&& other) noexcept {
    Map moved(std::move(other));
    std::swap(data, moved.data);
    std::swap(width, moved.width);
    std::swap(height, moved.height);
    std::swap(pitch, moved.pitch);
    return *this;
  }
  ~Map() = default;

  bool empty() const { return width == 0 || height == 0; }
  /// @throws UsageError where there is no such row
  T* row(int y) const {
    if (y < 0 || y >= height) detail::throw_no_row(height, y);
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data.get()) +
                                static_cast<std::uintptr_t>(y * pitch));
  }
  T& operator()(int x, int y) const { return row(y)[x]; }
  operator MapView<T>() const { return {data.get(), width, height, pitch}; }
};

}  // namespace reconstruct
