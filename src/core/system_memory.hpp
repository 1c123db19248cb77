#pragma once

#include <cstddef>
#include <filesystem>

namespace recon {

/// Bytes of memory that this process can still allocate without swapping or being killed: the minimum of
/// MemAvailable and the memory available within the limits of its control groups (version 1 and 2).
/// Reclaimable file caches count as free. The value is a snapshot.
/// @param root  root of /proc and the cgroup mounts; tests pass another one than "/"
/// @throws InputError when /proc/meminfo has no MemAvailable and no control group has a limit
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Makes the C library return large freed blocks to the system immediately. By default it retains more and
/// more freed memory, so that a process exceeds the planned memory. Call it before any large allocation.
void return_freed_memory();

}  // namespace recon
