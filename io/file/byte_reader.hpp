#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "io/file/input_file.hpp"

namespace recon {

/// Reads the number at `bytes` in byte order `order`.
template <class T>
T load_number(const char* bytes, std::endian order = std::endian::little) {
  static_assert(std::is_arithmetic_v<T>);
  std::array<char, sizeof(T)> copy;
  std::memcpy(copy.data(), bytes, sizeof(T));
  if (order != std::endian::native) std::reverse(copy.begin(), copy.end());
  return std::bit_cast<T>(copy);
}

/// Writes a number to `bytes`, little-endian.
template <class T>
void store_number(char* bytes, T value) {
  static_assert(std::is_arithmetic_v<T>);
  std::memcpy(bytes, &value, sizeof value);
  if (std::endian::native != std::endian::little) std::reverse(bytes, bytes + sizeof value);
}

/// Appends a number to `out`, little-endian.
template <class T>
void append_number(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  store_number(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

/// Reads little-endian numbers sequentially from the content of a file. Every read past the end throws
/// InputError with the offset of the missing byte.
class ByteReader {
 public:
  /// @param file   name for messages; must outlive the reader, as `bytes` must
  ByteReader(std::string_view bytes, const std::string& file)
      : window_(bytes), size_(bytes.size()), file_(file) {}
  /// Reads from a stream; @throws as InputStream::extend, as does every read
  ByteReader(InputStream& stream, const std::string& file)
      : stream_(&stream), window_(stream.window()), size_(stream.size()), file_(file) {}

  std::uint64_t offset() const { return begin_ + next_; }
  std::uint64_t remaining() const { return size_ - offset(); }
  FilePlace place() const { return {file_, FilePlace::Unit::kByte, offset()}; }

  template <class T>
  T read(std::string_view what, std::endian order = std::endian::little) {
    return load_number<T>(skip(sizeof(T), what), order);
  }

  /// The bytes up to the next NUL, which is skipped; valid until the next read.
  std::string_view read_c_string(std::string_view what) {
    constexpr std::size_t kMaxBytes = 1 << 16;
    std::size_t end = window_.find('\0', next_);
    while (end == std::string_view::npos && window_.size() - next_ <= kMaxBytes && extend())
      end = window_.find('\0', next_);
    if (end == std::string_view::npos && window_.size() - next_ > kMaxBytes)
      place().fail("{} has more than {} bytes; the file is corrupt: write it again", what, int{kMaxBytes});
    if (end == std::string_view::npos) fail_truncated(what);
    const std::string_view text = window_.substr(next_, end - next_);
    next_ = end + 1;
    return text;
  }

  /// Reads a count of records of at least `record_bytes` bytes each; throws if they exceed the rest of the
  /// file.
  std::uint64_t read_count(std::size_t record_bytes, std::string_view what) {
    const FilePlace start = place();
    const auto count = read<std::uint64_t>(what);
    check_count(count, record_bytes, what, start);
    return count;
  }
  void check_count(std::uint64_t count, std::size_t record_bytes, std::string_view what,
                   const FilePlace& start) const {
    if (count > remaining() / record_bytes)
      start.fail(
          "{} {} are announced, but only {} bytes follow; the file is truncated or corrupt: write it again",
          count, what, remaining());
  }

  /// Skips `count` bytes and returns a pointer to them; valid until the next read.
  const char* skip(std::size_t count, std::string_view what) {
    if (remaining() < count) fail_truncated(what);
    while (window_.size() - next_ < count)
      if (!extend()) fail_truncated(what);
    const char* begin = window_.data() + next_;
    next_ += count;
    return begin;
  }

  /// @throws InputError if any bytes remain
  void expect_end() const {
    if (remaining() != 0)
      place().fail("{} bytes follow the last record; the file is corrupt: write it again", remaining());
  }

 private:
  [[noreturn]] void fail_truncated(std::string_view what) const {
    place().fail("the file ends inside {} (it has {} bytes); it is truncated: write it again", what, size_);
  }

  /// Extends the window, which then starts at the next unread byte.
  bool extend() {
    if (stream_ == nullptr) return false;
    stream_->take(next_);
    begin_ += std::exchange(next_, 0);
    const bool more = stream_->extend();
    window_ = stream_->window();
    return more;
  }

  InputStream* stream_ = nullptr;
  std::string_view window_;
  std::size_t next_ = 0;     ///< offset in the window
  std::uint64_t begin_ = 0;  ///< offset of the window in the file
  std::uint64_t size_;       ///< of the file
  const std::string& file_;
};

}  // namespace recon
