#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "core/counted_memory.hpp"
#include "core/error.hpp"

namespace recon {

/// Cache of the memory of large arrays. A released block is reused for the next array of about the same size,
/// so that the system does not zero the same pages again for each view or pair: that took 5 to 20 % of the
/// time of semi-global matching. Blocks in use and cached blocks together never exceed the previous peak of
/// the blocks in use, so the cache does not raise the peak memory. Thread-safe.

/// Arrays of at least this many bytes are large.
inline constexpr std::size_t kLargeMemory = std::size_t{1} << 20;

struct LargeBlock {
  void* data = nullptr;   ///< 64-byte aligned, uninitialised
  std::size_t bytes = 0;  ///< at least the size requested
};

/// @throws OutOfMemory with the number of bytes requested
LargeBlock take_large_memory(std::size_t bytes);

void give_back_large_memory(LargeBlock block) noexcept;

/// Releases the cached blocks to the system: between stages with different memory needs.
void release_kept_memory() noexcept;

/// Size of the cached blocks in bytes.
std::size_t kept_memory();

/// Rows of images and volumes start at multiples of this many bytes.
inline constexpr std::size_t kRowAlignment = 64;

/// Number of elements of T from one row to the next, for rows of `count` elements: the smallest multiple of
/// 64 bytes. For element sizes that do not divide 64 (such as 3 bytes), rows are padded to 64 elements
/// instead.
template <class T>
constexpr std::ptrdiff_t padded_count(int count) {
  EXPECTS(count >= 0);
  const std::ptrdiff_t step = kRowAlignment % sizeof(T) == 0 ? kRowAlignment / sizeof(T) : kRowAlignment;
  return (count + step - 1) / step * step;
}

/// Product of `sizes`.
/// @throws std::logic_error for a size below 0, OutOfMemory where the product exceeds the address space
inline std::size_t element_count(std::initializer_list<std::ptrdiff_t> sizes) {
  std::size_t product = 1;
  for (const std::ptrdiff_t size : sizes) {
    EXPECTS(size >= 0);
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(size), &product))
      throw OutOfMemory("an array is larger than any memory; --max-image-size lowers what is needed");
  }
  return product;
}

/// Uninitialised, 64-byte aligned storage for `count` elements of a trivial type. Without memory where it is
/// counted, see CountedMemory.
/// @throws OutOfMemory with the number of bytes requested
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count) {
    if (count == 0) return;
    if (count > (std::numeric_limits<std::size_t>::max() - kRowAlignment) / sizeof(T))
      throw OutOfMemory("an array of " + std::to_string(count) + " elements is larger than any memory");
    const std::size_t bytes = (count * sizeof(T) + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    if (CountedMemory* counted = CountedMemory::current()) {
      counted->take(bytes);
      data_ = {reinterpret_cast<T*>(kNothing), Free{bytes, kNothing}};
      return;
    }
    if (bytes >= kLargeMemory) {
      const LargeBlock block = take_large_memory(bytes);
      data_ = {static_cast<T*>(block.data), Free{block.bytes, nullptr}};
      return;
    }
    // Aligned by hand: the parts that std::aligned_alloc trims at both ends prevent glibc before 2.38 from
    // reusing the memory for an array of the same size, so the heap grows from view to view.
    std::size_t space = bytes + kRowAlignment;
    void* const block = std::malloc(space);
    if (block == nullptr) throw OutOfMemory("no memory for " + std::to_string(bytes) + " bytes");
    void* data = block;
    data_ = {static_cast<T*>(std::align(kRowAlignment, bytes, data, space)), Free{0, block}};
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  void swap(AlignedBuffer& other) noexcept { data_.swap(other.data_); }

 private:
  /// Where arrays are whose memory is only counted.
  alignas(kRowAlignment) static inline std::byte kNothing[1] = {};

  struct Free {
    std::size_t large_bytes = 0;  ///< size of a large block, or counted; otherwise 0
    void* small_block = nullptr;  ///< allocation that contains the array; null for a large block

    void operator()(T* p) const noexcept {
      if (small_block == kNothing) {
        if (CountedMemory* counted = CountedMemory::current()) counted->give_back(large_bytes);
      } else if (large_bytes > 0) {
        give_back_large_memory({p, large_bytes});
      } else {
        std::free(small_block);
      }
    }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace recon
