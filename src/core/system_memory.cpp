#include "core/system_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "core/cgroup.hpp"
#include "core/error.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// The number after `key` in a file of lines "key number ..."; empty if the file or the key is missing.
std::optional<std::uint64_t> number_after(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (word != key) continue;
    std::uint64_t value;
    if (in >> value) return value;
    return std::nullopt;
  }
  return std::nullopt;
}

/// The number in a file of one line; empty if the file is missing or contains "max".
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t value;
  if (std::ifstream(file) >> value) return value;
  return std::nullopt;
}

/// Memory available within the limit of one control group; empty if it has none.
std::optional<std::uint64_t> left_in(const Cgroup& group) {
  const bool second = group.version == 2;
  const auto limit = number_in(group.directory / (second ? "memory.max" : "memory.limit_in_bytes"));
  const auto usage = number_in(group.directory / (second ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !usage) return std::nullopt;
  const auto cache =
      number_after(group.directory / "memory.stat", second ? "inactive_file" : "total_inactive_file")
          .value_or(0);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

}  // namespace

std::size_t available_memory(const fs::path& root) {
  std::optional<std::uint64_t> available = number_after(root / "proc/meminfo", "MemAvailable:");
  if (available) *available *= 1024;
  for (const Cgroup& group : cgroups_of_this_process(root, "memory"))
    if (const auto left = left_in(group)) available = std::min(available.value_or(*left), *left);
  if (!available)
    throw InputError((root / "proc/meminfo").string() + ": does not say MemAvailable; give --memory-limit");
  return static_cast<std::size_t>(*available);
}

void return_freed_memory() {
  constexpr int kMinBlock = 256 << 10;  // a fixed threshold: the dynamic one rises to 32 MiB
  mallopt(M_MMAP_THRESHOLD, kMinBlock);
}

}  // namespace recon
