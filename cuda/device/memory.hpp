#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "cuda/device/error.hpp"

namespace recon::cuda {

/// Bytes of the current device that nothing uses at the moment. @throws DeviceError
std::size_t free_memory();
/// All bytes of the current device. @throws DeviceError
std::size_t total_memory();

/// A number of bytes for messages, rounded up.
std::string in_mebibytes(std::size_t bytes);

/// Owner of uninitialised memory. Move-only.
template <class Free>
class Buffer {
 public:
  Buffer() = default;
  /// @throws OutOfMemory with the bytes requested, of a device also the bytes free
  explicit Buffer(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return data_ ? bytes_ : 0; }

 private:
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

struct FreeDevice {
  void operator()(std::byte* data) const noexcept { static_cast<void>(cudaFree(data)); }
};
struct FreePinned {
  void operator()(std::byte* data) const noexcept { static_cast<void>(cudaFreeHost(data)); }
};

/// Device memory, 256-byte aligned; freeing waits for the device.
using DeviceBuffer = Buffer<FreeDevice>;
/// Page-locked host memory; copies from and to it overlap with other work.
using PinnedBuffer = Buffer<FreePinned>;
template <>
DeviceBuffer::Buffer(std::size_t bytes);
template <>
PinnedBuffer::Buffer(std::size_t bytes);

/// Allocations from an arena start at multiples of this many bytes.
inline constexpr std::size_t kArenaAlignment = 256;

constexpr std::size_t arena_bytes(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// One allocation that is handed out in parts and reset as a whole; or memory of another owner that is handed
/// out; or, without memory, a counter of what would be handed out.
class Arena {
 public:
  Arena() = default;
  /// An arena in memory of another owner, which must be longer-lived: it cannot grow or be released.
  Arena(std::byte* memory, std::size_t bytes) : borrowed_(memory), borrowed_bytes_(bytes) {}

  /// An arena that only counts: `take` returns null.
  static Arena counter() {
    Arena arena;
    arena.counts_ = true;
    return arena;
  }

  /// Resets the arena and ensures a capacity of `bytes`; the contents are lost.
  /// @throws OutOfMemory; std::logic_error if borrowed memory is too small
  void reset(std::size_t bytes) {
    used_ = 0;
    if (bytes <= capacity()) return;
    EXPECTS(borrowed_ == nullptr);
    memory_ = DeviceBuffer();  // before the new allocation, so that the two never coexist
    memory_ = DeviceBuffer(bytes);
  }

  /// Frees the device memory.
  void release() {
    EXPECTS(borrowed_ == nullptr);
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
    EXPECTS(counts_ || bytes <= capacity() - used_);
    used_ += bytes;
    return counts_ ? nullptr : reinterpret_cast<T*>(base() + begin);
  }

  /// Calls `takes`, each of which takes memory; they share it, so only one of them may use it at a time.
  template <class... Takes>
  void share(const Takes&... takes) {
    const std::size_t begin = used_;
    std::size_t end = begin;
    ((used_ = begin, takes(), end = std::max(end, used_)), ...);
    used_ = end;
  }

  std::byte* base() const { return borrowed_ != nullptr ? borrowed_ : memory_.data(); }
  std::size_t capacity() const { return borrowed_ != nullptr ? borrowed_bytes_ : memory_.bytes(); }
  std::size_t used() const { return used_; }

 private:
  DeviceBuffer memory_;
  std::byte* borrowed_ = nullptr;
  std::size_t borrowed_bytes_ = 0, used_ = 0;
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
