#pragma once

#include <filesystem>
#include <string>

namespace recon {

/// The whole content of a file.
/// @throws InputError with path and reason (absent, a folder, no permission, a read error)
std::string read_file(const std::filesystem::path& path);

}  // namespace recon
