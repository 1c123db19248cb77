#include "core/aligned_buffer.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "core/error.hpp"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes)
#endif

namespace recon {
namespace {

constexpr std::size_t kAlignment = 64;

/// Aligned by hand, as small arrays are, see AlignedBuffer: the address that malloc returned stands before
/// the data. Null if there is no memory.
void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t kBeside = kAlignment + sizeof(void*);
  if (bytes > std::numeric_limits<std::size_t>::max() - kBeside) return nullptr;
  void* const memory = std::malloc(bytes + kBeside);
  if (memory == nullptr) return nullptr;
  void* data = static_cast<void**>(memory) + 1;
  std::size_t space = bytes + kAlignment;
  std::align(kAlignment, bytes, data, space);
  static_cast<void**>(data)[-1] = memory;
  return data;
}

void free_aligned(void* data) noexcept {
  std::free(static_cast<void**>(data)[-1]);
}

/// The unused blocks, in the order in which they were returned.
class KeptBlocks {
 public:
  LargeBlock take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const LargeBlock& b) { return b.bytes >= bytes && b.bytes - bytes <= bytes / 8; };
    auto best = std::ranges::find_if(blocks_, fits);
    for (auto it = best; it != blocks_.end(); ++it)
      if (fits(*it) && it->bytes < best->bytes) best = it;
    LargeBlock block;
    if (best != blocks_.end()) {
      block = *best;
      ASAN_UNPOISON_MEMORY_REGION(block.data, block.bytes);
      kept_ -= block.bytes;
      blocks_.erase(best);
    } else {
      release_until(bytes < most_used_ ? most_used_ - bytes : 0);
      block = allocate(bytes);
    }
    used_ += block.bytes;
    most_used_ = std::max(most_used_, used_);
    return block;
  }

  void keep(LargeBlock block) noexcept {
    const std::lock_guard lock(mutex_);
    used_ -= block.bytes;
    try {
      blocks_.push_back(block);
      kept_ += block.bytes;
      ASAN_POISON_MEMORY_REGION(block.data, block.bytes);  // nothing without the address sanitizer
    } catch (const std::bad_alloc&) {
      free_aligned(block.data);
    }
  }

  void release() noexcept {
    const std::lock_guard lock(mutex_);
    release_until(0);
    most_used_ = used_;
  }

  std::size_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  /// Releases the oldest blocks until at most `most` bytes are in use or cached.
  void release_until(std::size_t most) noexcept {
    while (!blocks_.empty() && used_ + kept_ > most) {
      kept_ -= blocks_.front().bytes;
      ASAN_UNPOISON_MEMORY_REGION(blocks_.front().data, blocks_.front().bytes);
      free_aligned(blocks_.front().data);
      blocks_.pop_front();
    }
  }

  LargeBlock allocate(std::size_t bytes) {
    void* data = allocate_aligned(bytes);
    if (data == nullptr) {
      release_until(0);
      data = allocate_aligned(bytes);
    }
    if (data == nullptr)
      throw OutOfMemory("no memory for " + std::to_string(bytes >> 20) +
                        " MiB; --max-image-size or --memory-limit lower what is needed");
    return {data, bytes};
  }

  std::mutex mutex_;
  std::deque<LargeBlock> blocks_;
  std::size_t used_ = 0, kept_ = 0, most_used_ = 0;
};

/// Never destroyed, since arrays may outlive any static object.
KeptBlocks& kept_blocks() {
  static KeptBlocks& blocks = *new KeptBlocks;
  return blocks;
}

}  // namespace

LargeBlock take_large_memory(std::size_t bytes) {
  return kept_blocks().take((bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void give_back_large_memory(LargeBlock block) noexcept {
  kept_blocks().keep(block);
}

void release_kept_memory() noexcept {
  kept_blocks().release();
  malloc_trim(0);  // blocks below the size that is returned at once
}

std::size_t kept_memory() {
  return kept_blocks().kept();
}

}  // namespace recon
