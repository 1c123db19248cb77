#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/content_hash.hpp"

namespace recon {

/// A file that appears under its name only when it is complete: it is written under a temporary name in the
/// same folder (created if missing); `commit` flushes it to disk and renames it, see also sync_folder_of.
/// Without `commit` it is deleted.
class AtomicFile {
 public:
  /// @throws OutputError with path and reason, as do all other members
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  /// The other one can only be destroyed then.
  AtomicFile(AtomicFile&& other) noexcept;

  /// Appends bytes; few at a time are buffered, up to 1 MiB.
  void write(std::string_view bytes);

  /// The two halves of `write`, each in the order of the file: two threads may do one each.
  void hash(std::string_view bytes) { hasher_.add(bytes); }
  void append(std::string_view bytes);

  /// Frees the buffer: a file that waits for `commit` takes no memory of the process, and the disk begins to
  /// write it.
  void flush();

  /// Overwrites the first bytes of those written before, at most ContentHasher::kBeginning.
  void replace_beginning(std::string_view bytes);

  /// Renames the file to its final name; nothing may be written afterwards.
  /// @returns size and hash of the written content, even if another process replaces the file
  FileIdentity commit();

  /// The same, but a file of the same content that is there already stays as it is.
  FileIdentity commit_if_changed();

 private:
  void write_buffer();
  void write_out(std::string_view bytes);
  void write_back();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string buffer_;
  ContentHasher hasher_;
  std::int64_t written_ = 0, begun_ = 0;  ///< bytes written, and of these sent to the disk
  int fd_ = -1;
};

/// Makes the last renames in the folder of a file durable: after a power failure the files have their names.
/// On file systems with one journal, such as ext4 and XFS, those in other folders before it too. It waits for
/// the disk: only the first and the last files of a run ask for it, as a run repeats what has no record. A
/// failure is ignored, since not all file systems support it.
void sync_folder_of(const std::filesystem::path& path) noexcept;

/// Writes a whole file through AtomicFile.
FileIdentity write_file(const std::filesystem::path& path, std::string_view bytes);

/// The same unless the file has these bytes already.
void write_file_if_changed(const std::filesystem::path& path, std::string_view bytes);

/// Writes all bytes to a file descriptor; false, with the reason in errno, where it cannot.
bool write_all(int fd, std::string_view bytes);

/// @throws OutputError with path, action and the reason in errno
[[noreturn]] void fail_output(const std::filesystem::path& path, const char* action);

/// Serialises a document; invalid UTF-8 is replaced by replacement characters.
std::string json_text(const nlohmann::json& document);

}  // namespace recon
