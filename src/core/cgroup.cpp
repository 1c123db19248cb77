#include "core/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

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

}  // namespace recon
