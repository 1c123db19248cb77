#include "core/system_limits.hpp"

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "core/error.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy: the cgroup `origin` appears at `mount_point`.
struct Hierarchy {
  fs::path origin;
  fs::path mount_point;
  int version;
};

bool has_word(const std::string& comma_separated, const std::string& word) {
  return ("," + comma_separated + ",").find("," + word + ",") != std::string::npos;
}

/// Hierarchies that may limit `controller`, from lines such as
/// "31 23 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory".
std::vector<Hierarchy> hierarchies(const fs::path& root, const std::string& controller) {
  std::vector<Hierarchy> found;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string id, parent, device, origin, mount_point, type, source, options;
    std::istringstream(line.substr(0, dash)) >> id >> parent >> device >> origin >> mount_point;
    std::istringstream(line.substr(dash + 3)) >> type >> source >> options;
    if (type == "cgroup2")
      found.push_back({origin, mount_point, 2});
    else if (type == "cgroup" && has_word(options, controller))
      found.push_back({origin, mount_point, 1});
  }
  return found;
}

/// The path of this process in the hierarchy of `version`, from lines such as "4:cpu,cpuacct:/a/b" or
/// "0::/a/b".
fs::path path_in_hierarchy(const fs::path& root, const std::string& controller, int version) {
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : has_word(controllers, controller))
      return line.substr(second + 1);
  }
  return "/";
}

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

int processors_of_this_process() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More processors than a cpu_set_t can represent.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// CPU quota of one cgroup in processors; empty if it has none.
std::optional<double> cpu_quota(const Cgroup& group) {
  double quota = -1, period = 0;
  if (group.version == 2) {
    std::ifstream(group.directory / "cpu.max") >> quota >> period;  // "max 100000" sets no quota
  } else {
    std::ifstream(group.directory / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group.directory / "cpu.cfs_period_us") >> period;
  }
  if (quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

}  // namespace

std::vector<Cgroup> cgroups_of_this_process(const fs::path& root, const std::string& controller) {
  std::vector<Cgroup> groups;
  for (const Hierarchy& hierarchy : hierarchies(root, controller)) {
    fs::path below =
        path_in_hierarchy(root, controller, hierarchy.version).lexically_relative(hierarchy.origin);
    // In a container the path may be that of the host; our group is then the root of the mount.
    if (below.empty() || *below.begin() == "..") below = ".";
    const fs::path top = root / hierarchy.mount_point.relative_path();
    for (; below != "." && !below.empty(); below = below.parent_path())
      groups.push_back({top / below, hierarchy.version});
    groups.push_back({top, hierarchy.version});
  }
  return groups;
}

std::size_t available_memory(const fs::path& root) {
  std::optional<std::uint64_t> available = number_after(root / "proc/meminfo", "MemAvailable:");
  if (available) *available *= 1024;
  for (const Cgroup& group : cgroups_of_this_process(root, "memory"))
    if (const auto left = left_in(group)) available = std::min(available.value_or(*left), *left);
  if (!available)
    throw InputError((root / "proc/meminfo").string() + ": does not say MemAvailable; give --memory-limit");
  return static_cast<std::size_t>(*available);
}

void return_freed_memory(std::size_t block) {
  // Fixed thresholds: the dynamic ones rise to 32 and 64 MiB.
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(block));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(block / 2));
}

int available_threads(const std::filesystem::path& root) {
  double threads = processors_of_this_process();
  for (const Cgroup& group : cgroups_of_this_process(root, "cpu"))
    if (const auto quota = cpu_quota(group)) threads = std::min(threads, std::ceil(*quota));
  return static_cast<int>(threads);
}

}  // namespace recon
