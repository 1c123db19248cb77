#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// Bytes of the current device that nothing uses at the moment. @throws DeviceError
std::size_t free_memory();

/// Owner of device memory, uninitialised, 256-byte aligned. Move-only; freeing waits for the device.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// @throws OutOfMemory with the bytes requested and the bytes free
  explicit DeviceBuffer(std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_) static_cast<void>(cudaFree(data_));
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Owner of page-locked host memory; copies from and to it overlap with other work. Move-only.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// @throws OutOfMemory
  explicit PinnedBuffer(std::size_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedBuffer() {
    if (data_) static_cast<void>(cudaFreeHost(data_));
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(PinnedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Allocations from an arena start at multiples of this many bytes.
inline constexpr std::size_t kArenaAlignment = 256;

constexpr std::size_t arena_bytes(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// One allocation that is handed out in parts and reset as a whole; or, without memory, a counter of what
/// would be handed out.
class Arena {
 public:
  Arena() = default;

  /// An arena that only counts: `take` returns null.
  static Arena counter() {
    Arena arena;
    arena.counts_ = true;
    return arena;
  }

  /// Resets the arena and ensures a capacity of `bytes`; the contents are lost.
  /// @throws OutOfMemory
  void reset(std::size_t bytes) {
    used_ = 0;
    if (bytes <= memory_.bytes()) return;
    memory_ = DeviceBuffer();  // before the new allocation, so that the two never coexist
    memory_ = DeviceBuffer(bytes);
  }

  /// Frees the device memory.
  void release() {
    used_ = 0;
    memory_ = DeviceBuffer();
  }

  /// Takes back what was handed out since `used()` was `used`.
  void rewind(std::size_t used) {
    EXPECTS(used <= used_);
    used_ = used;
  }

  /// `count` elements, uninitialised.
  /// @throws std::logic_error if the arena is too small
  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = arena_bytes(count * sizeof(T)), begin = used_;
    EXPECTS(counts_ || bytes <= memory_.bytes() - used_);
    used_ += bytes;
    return counts_ ? nullptr : reinterpret_cast<T*>(memory_.data() + begin);
  }

  std::byte* base() const { return memory_.data(); }
  std::size_t capacity() const { return memory_.bytes(); }
  std::size_t used() const { return used_; }

 private:
  DeviceBuffer memory_;
  std::size_t used_ = 0;
  bool counts_ = false;
};

/// The bytes that `take(arena)` takes from an arena.
template <class Take>
std::size_t bytes_taken(const Take& take) {
  Arena counter = Arena::counter();
  take(counter);
  return counter.used();
}

/// Makes the arena large enough for `take(arena)`, and returns the result of that; the contents are lost.
/// @throws OutOfMemory
template <class Take>
auto allocate(Arena& arena, const Take& take) {
  arena.reset(bytes_taken(take));
  return take(arena);
}

}  // namespace recon::cuda
