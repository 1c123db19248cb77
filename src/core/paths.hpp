#pragma once

#include <filesystem>
#include <system_error>
#include <type_traits>

#include "core/error.hpp"

namespace recon {

/// What a path leads to, links followed.
enum class PathKind {
  kNothing,
  kFile,  ///< a regular file
  kFolder,
  kOther,  ///< a pipe, a device or a socket
};

/// kNothing only where the name is certainly not there.
/// @throws InputError with path and reason where that cannot be found out: a folder without permission on
/// the way, a link that leads nowhere or in a circle, a file in place of a folder, a name that is too long
/// @throws Error with exit code 1 for a failing disk
PathKind kind_of_path(const std::filesystem::path& path);

/// The same where the system refuses to look.
/// @param code  its errno
PathKind kind_without_look(const std::filesystem::path& path, int code);

/// Whether there is a regular file, a folder or anything at a path. @throws InputError as kind_of_path
inline bool is_file(const std::filesystem::path& path) {
  return kind_of_path(path) == PathKind::kFile;
}
inline bool is_folder(const std::filesystem::path& path) {
  return kind_of_path(path) == PathKind::kFolder;
}
inline bool is_there(const std::filesystem::path& path) {
  return kind_of_path(path) != PathKind::kNothing;
}

/// Whether there is anything but a folder: what a reader is to open, and refuses by name if it is no file.
/// @throws InputError as kind_of_path
inline bool is_there_to_read(const std::filesystem::path& path) {
  const PathKind kind = kind_of_path(path);
  return kind == PathKind::kFile || kind == PathKind::kOther;
}

/// Calls `visit(path)` for everything in a folder, in any order; nothing where there is no folder.
/// @throws InputError where the folder cannot be read to its end
template <class Visit>
void for_each_in_folder(const std::filesystem::path& folder, const Visit& visit);

/// An absolute path without links and dots, as far as they can be resolved: for the comparison of paths.
std::filesystem::path resolved_path(const std::filesystem::path& path);

namespace detail {
[[noreturn]] void fail_to_list(const std::filesystem::path& folder, const std::error_code& error);
}  // namespace detail

template <class Visit>
void for_each_in_folder(const std::filesystem::path& folder, const Visit& visit) {
  if (!is_folder(folder)) return;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    visit(it->path());
  if (error) detail::fail_to_list(folder, error);
}

/// What `look` returns; `otherwise` where it throws an InputError, as of a file that cannot be read: who uses
/// the file says why.
template <class Look>
auto if_readable(const Look& look, std::invoke_result_t<Look> otherwise) {
  try {
    return look();
  } catch (const InputError&) {
    return otherwise;
  }
}

}  // namespace recon
