#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/file/input_file.hpp"

namespace recon {

/// `text` without blanks, tabs and carriage returns at both ends.
std::string_view trim(std::string_view text);

/// The number that all of `text` is; empty for another text, and for a number out of the range of T.
template <class T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Iterates over the lines of a text and counts them. Lines end with LF or CRLF, which the last one may lack.
/// A UTF-8 byte order mark is skipped.
class LineScanner {
 public:
  /// @param file   name for messages; must outlive the scanner, as `text` must
  LineScanner(std::string_view text, const std::string& file);
  /// Reads from a stream; @throws as InputStream::extend, as does `next`
  LineScanner(InputStream& stream, const std::string& file);

  /// The next line without its line ending; false at the end of the text. With a stream, valid until the next
  /// call.
  bool next(std::string_view& line);

  /// The next line, trimmed, that is neither empty nor a comment (#); false at the end of the text.
  bool next_content(std::string_view& line);

  /// The line returned last.
  FilePlace place() const { return {file_, FilePlace::Unit::kLine, number_}; }

  /// The text after the line returned last; with a stream, the part already read.
  std::string_view rest() const { return rest_; }

 private:
  bool extend();

  InputStream* stream_ = nullptr;
  std::string_view rest_;
  const std::string& file_;
  std::uint64_t number_ = 0;
};

/// Iterates over the words of one line, separated by blanks and tabs.
class WordScanner {
 public:
  WordScanner(std::string_view line, FilePlace place) : rest_(trim(line)), place_(place) {}

  bool done() const { return rest_.empty(); }
  const FilePlace& place() const { return place_; }

  /// The unread rest of the line, trimmed.
  std::string_view rest() const { return rest_; }

  /// The next word; `what` names it in the message if it is missing.
  std::string_view word(std::string_view what);

  /// The next word as a finite number.
  double number(std::string_view what);

  /// The same, or as NaN or infinity, also where it is too large for a double.
  double any_number(std::string_view what);

  /// The next word as an integer in the range of T.
  template <class T>
  T integer(std::string_view what) {
    const std::string_view text = word(what);
    if (const auto value = to_number<T>(text)) return *value;
    fail_value(what, text, "an integer in range");
  }

 private:
  double any_number(std::string_view what, std::string_view text) const;
  [[noreturn]] void fail_value(std::string_view what, std::string_view found, std::string_view wanted) const;

  std::string_view rest_;
  FilePlace place_;
};

/// Letters of ASCII in lower case.
std::string lower_case(std::string text);

/// `text` for a message: shortened, without control characters, and bytes that are not UTF-8 as \xE9.
std::string in_quotes(std::string_view text);

/// The shortest decimal text that is read back as the same number.
template <class T>
std::string decimal(T value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace recon
