#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace recon {

/// A control group that contains this process.
struct Cgroup {
  std::filesystem::path directory;  ///< of its control files
  int version = 2;                  ///< 1 or 2; determines the file names
};

/// The control groups whose limits apply to this process for one controller, innermost first, up to the root
/// of each mounted hierarchy. Empty if there are none (no Linux cgroups, nothing mounted).
/// @param root        root of /proc and the mounts; tests pass another one than "/"
/// @param controller  "memory" or "cpu"
std::vector<Cgroup> cgroups_of_this_process(const std::filesystem::path& root, const std::string& controller);

/// Bytes of memory that this process can still allocate without swapping or being killed: the minimum of
/// MemAvailable and the memory available within the limits of its control groups (version 1 and 2).
/// Reclaimable file caches count as free. The value is a snapshot.
/// @param root  root of /proc and the cgroup mounts; tests pass another one than "/"
/// @throws InputError when /proc/meminfo has no MemAvailable and no control group has a limit
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Number of usable threads, >= 1: the processors in the affinity mask of the process, or the CPU quota of
/// its control groups (version 1 or 2), rounded up, if that is lower.
/// @param root  as above
int available_threads(const std::filesystem::path& root = "/");

/// Fixes which freed memory the C library returns to the system: by default it retains more and more, so that
/// a process exceeds the planned memory. Blocks of at least `block` bytes are returned at once; smaller ones
/// stay in the heap of their thread, where they are used again without the page faults of new memory, until
/// half as many bytes at its end are free. Call it before any large allocation.
/// @param block  at most 32 MiB
void return_freed_memory(std::size_t block = std::size_t{256} << 10);

}  // namespace recon
