#pragma once

#include <cstddef>

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

}  // namespace recon
