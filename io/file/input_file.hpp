#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace recon {

/// A place in an input file, for messages: a line (text) or a byte offset (binary) of `file`, or all that
/// `file` names, such as a field of a file.
struct FilePlace {
  enum class Unit { kLine, kByte, kAll };

  const std::string& file;
  Unit unit = Unit::kAll;
  std::uint64_t position = 0;

  /// "cameras.txt:4", "cameras.bin: byte 24" or "transforms.json: frames[2].file_path".
  std::string text() const {
    if (unit == Unit::kAll) return file;
    return file + (unit == Unit::kLine ? ":" : ": byte ") + std::to_string(position);
  }

  /// @throws InputError "<place>: <message>"
  [[noreturn]] void fail(const std::string& message) const { throw InputError(text() + ": " + message); }
  template <class First, class... Rest>
  [[noreturn]] void fail(fmt::format_string<First, Rest...> message, const First& first,
                         const Rest&... rest) const {
    fail(fmt::vformat(message, fmt::make_format_args(first, rest...)));
  }
};

/// A regular file that is open for reading. Everything else is refused at once: a pipe may wait for ever, and
/// a device never end.
class InputDescriptor {
 public:
  /// @throws InputError with path and reason (absent, no permission, a folder, a pipe, a device)
  /// @throws Error with exit code 1 for system errors: too many open files, a failing disk
  explicit InputDescriptor(const std::filesystem::path& path);
  ~InputDescriptor();
  InputDescriptor(const InputDescriptor&) = delete;
  InputDescriptor& operator=(const InputDescriptor&) = delete;

  int number() const { return number_; }
  /// Bytes when it was opened; 0 also where the system does not know it, as in /proc.
  std::uint64_t size() const { return size_; }

 private:
  int number_;
  std::uint64_t size_ = 0;
};

/// The whole content of a regular file.
/// @throws InputError or Error as InputDescriptor; InputError for a file of more than `max_bytes`, unread
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

/// Its first bytes, at most `max_bytes`.
std::string read_beginning(const std::filesystem::path& path, std::size_t max_bytes);

/// Throws the exception of `read_file` for `errno`.
[[noreturn]] void fail_to_read(const std::filesystem::path& path);

/// Sequential access to the bytes of a file, or to bytes in memory: a file may be larger than the available
/// memory.
class InputStream {
 public:
  /// @param bytes  must outlive the stream
  explicit InputStream(std::string_view bytes) : memory_(bytes), window_(bytes), size_(bytes.size()) {}
  /// @throws InputError or Error as `read_file`, as does `extend`
  explicit InputStream(const std::filesystem::path& path);
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

  /// Appends `count` bytes from `offset` of the file on to `bytes`; false if they are not there. The window
  /// stays as it is.
  bool read_at(std::uint64_t offset, std::size_t count, std::string& bytes) const;

 private:
  std::filesystem::path path_;
  std::optional<InputDescriptor> file_;
  std::string_view memory_;  ///< all bytes, if there is no open file
  std::string_view window_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  std::uint64_t unread_ = 0;
};

/// Checks that a name from an input file stays inside the folder it is relative to, so that it can be joined
/// to an input or an output folder: not empty, no absolute path, no drive letter, no ".." component, no
/// control characters, and a file name at its end. Both / and \ count as separators.
/// @throws InputError with `place`, the name and the reason
void check_relative_name(std::string_view name, const FilePlace& place);

/// A name that `check_relative_name` accepts without redundant components: "a/b.jpg" for "./a//b.jpg". Names
/// of the same file become equal, except for links.
std::string normalised_name(std::string_view name);

}  // namespace recon
