#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace recon {

/// One control group that this process is in.
struct Cgroup {
  std::filesystem::path directory;  ///< where its control files are
  int version = 2;                  ///< 1 or 2: how they are named
};

/// The control groups whose limits bind this process for one controller, innermost first, up to the root of
/// each mounted hierarchy. Empty where there are none (no Linux cgroups, nothing mounted).
/// @param root        where /proc and the mounts are looked for; other than "/" for tests
/// @param controller  "memory" or "cpu"
std::vector<Cgroup> cgroups_of_this_process(const std::filesystem::path& root, const std::string& controller);

}  // namespace recon
