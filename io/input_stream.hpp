#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace recon {

/// The bytes of a file piece by piece, or bytes in memory, for readers that walk through them once: a model
/// may be larger than the memory that is left for it.
class InputStream {
 public:
  /// @param bytes  must outlive the stream
  explicit InputStream(std::string_view bytes) : window_(bytes), size_(bytes.size()) {}
  /// @throws InputError or Error as `read_file`, as does `extend`
  explicit InputStream(const std::filesystem::path& path);
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  /// What has been read and not been taken; `extend` invalidates it.
  std::string_view window() const { return window_; }

  /// How many bytes the file has.
  std::uint64_t size() const { return size_; }

  /// Drops the first bytes of the window.
  void take(std::size_t count) { window_.remove_prefix(count); }

  /// Reads on, behind the window; false at the end of the file.
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
