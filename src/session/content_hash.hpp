#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace recon {

/// A 64-bit fingerprint of bytes, as 16 hexadecimal digits: tells changed and damaged files, not made against
/// attackers. The same on every machine.
std::string content_hash(std::string_view bytes);

/// Size and fingerprint of a file.
struct FileIdentity {
  std::uint64_t size = 0;
  std::string hash;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Identity of a file, read once in pieces; nothing when it cannot be read.
std::optional<FileIdentity> identify_file(const std::filesystem::path& path);

}  // namespace recon
