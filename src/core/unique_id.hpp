#pragma once

#include <atomic>
#include <cstdint>

namespace recon {

/// The first of `count` consecutive numbers above 0 that no other call in the process returns.
inline std::uint64_t unique_ids(std::uint64_t count) {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(count) + 1;
}

}  // namespace recon
