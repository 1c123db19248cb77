#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace recon {

/// Sequential access to the bytes of a file, or to bytes in memory: a file may be larger than the available
/// memory.
class InputStream {
 public:
  /// @param bytes  must outlive the stream
  explicit InputStream(std::string_view bytes) : window_(bytes), size_(bytes.size()) {}
  /// @throws InputError or Error as `read_file`, as does `extend`
  explicit InputStream(const std::filesystem::path& path);
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  /// The bytes read but not yet consumed; invalidated by `extend`.
  std::string_view window() const { return window_; }

  /// Size of the file in bytes.
  std::uint64_t size() const { return size_; }

  /// Consumes the first bytes of the window.
  void take(std::size_t count) { window_.remove_prefix(count); }

  /// Appends further bytes to the window; false at the end of the file.
  bool extend();

 private:
  std::filesystem::path path_;
  std::string_view window_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  std::uint64_t unread_ = 0;
  int fd_ = -1;
};

}  // namespace recon
