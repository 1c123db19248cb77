#include "core/paths.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.hpp"

namespace recon {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw InputError(path.string() + ": cannot be looked up: " + reason);
}

/// Throws where a path leads to nothing for another reason than that its name is not there: the way ends at a
/// link to nothing, or at a file.
void check_way(const fs::path& path) {
  struct stat info {};
  fs::path way = path;
  while (::lstat(way.c_str(), &info) != 0) {
    const fs::path above = way.parent_path();
    if (above.empty() || above == way) return;
    way = above;
  }
  std::error_code ignored;
  if (S_ISLNK(info.st_mode) && ::stat(way.c_str(), &info) != 0)
    fail(path, "the link " + way.string() + " leads to " + fs::read_symlink(way, ignored).string() +
                   ", which is not there");
  if (way != path && !S_ISDIR(info.st_mode)) fail(path, way.string() + " is no folder");
}

}  // namespace

PathKind kind_without_look(const fs::path& path, int code) {
  if (code == EIO)  // of the machine, as when a file is read
    throw Error(1, path.string() + ": cannot be looked up: " + std::strerror(code) +
                       "; check the disk or the network, then run again: finished work is kept");
  if (code != ENOENT && code != ENOTDIR) fail(path, std::strerror(code));
  check_way(path);
  return PathKind::kNothing;
}

PathKind kind_of_path(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return kind_without_look(path, errno);
  if (S_ISREG(info.st_mode)) return PathKind::kFile;
  return S_ISDIR(info.st_mode) ? PathKind::kFolder : PathKind::kOther;
}

fs::path resolved_path(const fs::path& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(path, error);
  if (error) resolved = fs::absolute(path, error).lexically_normal();
  return error ? path : resolved;
}

namespace detail {
void fail_to_list(const fs::path& folder, const std::error_code& error) {
  throw InputError(folder.string() + ": the folder cannot be read: " + error.message());
}
}  // namespace detail

}  // namespace recon
