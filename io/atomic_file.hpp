#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"

namespace recon {

/// A file that appears under its name only when it is complete: it is written under a temporary name in the
/// same folder (created where missing), and `commit` flushes it to the disk and renames it. Without `commit`
/// it leaves nothing behind.
class AtomicFile {
 public:
  /// @throws OutputError with path and reason, as every other member
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends; collected in a buffer of 1 MiB.
  void write(std::string_view bytes);

  /// Replaces bytes that were written before.
  void write_at(std::uint64_t offset, std::string_view bytes);

  /// Puts the file in its place; nothing may be written afterwards.
  /// @returns size and hash of what was written, whatever another process puts under the name meanwhile
  FileIdentity commit();

  const std::filesystem::path& path() const { return path_; }

 private:
  void flush();
  FileIdentity reread() const;
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string buffer_;
  ContentHasher hasher_;
  bool rewritten_ = false;  ///< parts were replaced, so that the hash of the sequence is not that of the file
  int fd_ = -1;
};

/// Writes a whole file through AtomicFile.
FileIdentity write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace recon
