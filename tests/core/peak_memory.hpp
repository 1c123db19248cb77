#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "core/aligned_buffer.hpp"
#include "core/system_limits.hpp"

namespace recon {

/// The resident bytes of this process at most since the last call; begins again.
inline std::size_t take_peak_memory() {
  std::size_t kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kib;
  std::ofstream("/proc/self/clear_refs") << 5;
  return kib << 10;
}

/// The resident bytes that `work` adds at most, with all that it allocates; 0 where the system or a sanitizer
/// hides them.
template <class Work>
std::size_t added_memory(const Work& work) {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#endif
  return_freed_memory();  // as the program does
  release_kept_memory();
  take_peak_memory();
  const std::size_t before = take_peak_memory();
  work();
  const std::size_t after = take_peak_memory();
  release_kept_memory();
  return after - std::min(after, before);
}

}  // namespace recon
