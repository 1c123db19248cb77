#pragma once

#include <cstddef>

namespace recon {

/// Memory of large arrays. What one gives back is kept for the next of about the same size, so that views and
/// pairs that are done one after the other do not have the system clear the same pages again and again: that
/// was 5 to 20 % of the time of semi-global matching. Arrays in use and memory kept never take more together
/// than arrays in use once took alone, so that keeping does not raise the greatest amount that a program
/// takes. Safe to be called from several threads.

/// Arrays of at least this many bytes are large.
inline constexpr std::size_t kLargeMemory = std::size_t{1} << 20;

struct LargeBlock {
  void* data = nullptr;   ///< 64-byte aligned, uninitialised
  std::size_t bytes = 0;  ///< at least what was asked for
};

/// @throws OutOfMemory naming the bytes asked for
LargeBlock take_large_memory(std::size_t bytes);

void give_back_large_memory(LargeBlock block) noexcept;

/// Gives what is kept back to the system: between steps whose memory is of another kind.
void release_kept_memory() noexcept;

/// Bytes that are kept.
std::size_t kept_memory();

}  // namespace recon
