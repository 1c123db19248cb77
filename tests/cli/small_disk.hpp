#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

namespace recon {

/// A file system of its own, too small for the results.
class SmallDisk {
 public:
  /// @param size  as mount takes it, such as "size=256k"
  SmallDisk(const std::filesystem::path& folder, const std::string& size) : folder_(folder) {
    std::filesystem::create_directories(folder);
    mounted_ = mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount(folder_.c_str());
  }
  bool mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_;
};

}  // namespace recon
