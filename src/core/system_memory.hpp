#pragma once

#include <cstddef>
#include <filesystem>

namespace recon {

/// Bytes of memory that this process can still take without swapping or being killed: the least of what the
/// system has available (MemAvailable) and what the limits of its control groups (version 1 and 2) leave,
/// file caches that can be dropped counted as free. The value is of this moment; it changes as programs run.
/// @param root  where /proc and the cgroup mounts are looked for; other than "/" for tests
/// @throws InputError when the system does not say (no MemAvailable in /proc/meminfo) and no control group
/// has a limit
std::size_t available_memory(const std::filesystem::path& root = "/");

/// Has every larger block of memory that is freed go back to the system at once. By default the C library
/// keeps more and more of what was freed, so that a process outgrows any plan of its memory. Call it before
/// anything large is allocated.
void return_freed_memory();

}  // namespace recon
