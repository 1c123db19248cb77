#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace recon {

/// Size and content hash of a file.
struct FileIdentity {
  std::uint64_t size = 0;
  std::string hash;  ///< 16 hexadecimal digits
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Incremental content hash (XXH3, 64 bits): detects changed and damaged files, not attacks. The hash is the
/// same on every machine and for any division into pieces. The first `kBeginning` bytes are hashed apart from
/// the rest, so that a header can be completed when the rest is written.
class ContentHasher {
 public:
  static constexpr std::size_t kBeginning = 4096;

  ContentHasher();
  ~ContentHasher();
  ContentHasher(ContentHasher&&) noexcept;

  void add(std::string_view bytes);

  /// Replaces the first bytes, of which there have to be as many, and at most `kBeginning`.
  void replace_beginning(std::string_view bytes);

  /// Size and hash of the content added so far.
  FileIdentity identity() const;

 private:
  struct State;
  std::unique_ptr<State> rest_;
  std::string beginning_;
  std::uint64_t size_ = 0;
};

/// The hash of bytes in memory.
std::string content_hash(std::string_view bytes);

/// Identity of a file, read once in pieces; empty if it cannot be read.
std::optional<FileIdentity> identify_file(const std::filesystem::path& path);

}  // namespace recon
