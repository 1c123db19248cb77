#pragma once

#include <filesystem>
#include <string>

namespace recon {

/// The whole content of a file.
/// @throws InputError with path and reason (absent, a folder, no permission)
/// @throws Error with exit code 1 for system errors: too many open files, a failing disk
std::string read_file(const std::filesystem::path& path);

/// Throws the exception of `read_file` for `errno`.
[[noreturn]] void fail_to_read(const std::filesystem::path& path);

}  // namespace recon
