#pragma once

#include <filesystem>
#include <string>

namespace recon {

/// The whole content of a file.
/// @throws InputError with path and reason (absent, a folder, no permission)
/// @throws Error with exit code 1 where not the file is at fault but the machine: too many open files, a disk
/// that fails
std::string read_file(const std::filesystem::path& path);

/// Throws what `read_file` throws, for the reason in `errno`.
[[noreturn]] void fail_to_read(const std::filesystem::path& path);

}  // namespace recon
