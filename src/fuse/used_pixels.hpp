#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// One bit per pixel, rows concatenated: used by a point. A pixel is tested after all points that may mark
/// it, those of earlier views and of earlier phases of its own view. Other threads may mark other pixels of
/// the same word meanwhile, so that all access is atomic.
class UsedPixels {
 public:
  static constexpr int kRowWords = 64;  ///< of `rows`

  /// Number of 32-bit words of the bits.
  static std::size_t words(int width, int height) {
    const std::size_t words = (static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + 31) / 32;
    return (words + kRowWords - 1) / kRowWords * kRowWords;
  }
  /// All words as an image, for a copy by another device. No other thread marks pixels meanwhile.
  ImageView<std::uint32_t> rows() {
    return {bits_.data(), kRowWords, static_cast<int>(bits_.size() / kRowWords), kRowWords};
  }

  void prepare(int width, int height) {
    if (!bits_.empty()) return;
    width_ = width;
    bits_.resize(words(width, height));
  }
  /// Marks the pixels (x + i, y) for each bit i of `mask`.
  void set(int x, int y, std::uint32_t mask) {
    const std::size_t i = index(x, y);
    const std::uint64_t shifted = std::uint64_t{mask} << (i % 32);
    set_bits(i / 32, static_cast<std::uint32_t>(shifted));
    set_bits(i / 32 + 1, static_cast<std::uint32_t>(shifted >> 32));
  }
  /// Those of the bits of `mask` whose pixels (x + i, y) are not marked yet, as far as is known.
  std::uint32_t unset(int x, int y, std::uint32_t mask) {
    const std::size_t i = index(x, y);
    std::uint64_t marked = bits(i / 32);
    if (i % 32 != 0 && i / 32 + 1 < bits_.size()) marked |= std::uint64_t{bits(i / 32 + 1)} << 32;
    return mask & ~static_cast<std::uint32_t>(marked >> (i % 32));
  }
  bool test(int x, int y) {
    if (bits_.empty()) return false;
    const std::size_t i = index(x, y);
    return (bits(i / 32) >> (i % 32) & 1u) != 0;
  }
  void release() { bits_ = std::vector<std::uint32_t>(); }

 private:
  std::uint32_t bits(std::size_t element) {
    return std::atomic_ref(bits_[element]).load(std::memory_order_relaxed);
  }
  void set_bits(std::size_t element, std::uint32_t mask) {
    if (mask == 0) return;
    const std::atomic_ref bits(bits_[element]);
    // Most are set already; reading them does not take the cache line from the other threads.
    if ((bits.load(std::memory_order_relaxed) & mask) != mask) bits.fetch_or(mask, std::memory_order_relaxed);
  }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  int width_ = 0;
  std::vector<std::uint32_t> bits_;
};

}  // namespace recon
