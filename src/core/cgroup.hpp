#pragma once

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

}  // namespace recon
