#include "io/file/text_scanner.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/printable.hpp"

namespace recon {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxLineBytes = std::size_t{256} << 20;  // several million observations of one image

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

LineScanner::LineScanner(std::string_view text, const std::string& file) : rest_(text), file_(file) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

LineScanner::LineScanner(InputStream& stream, const std::string& file)
    : stream_(&stream), rest_(stream.window()), file_(file) {
  while (rest_.size() < kByteOrderMark.size() && extend()) continue;
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineScanner::extend() {
  if (stream_ == nullptr) return false;
  stream_->take(stream_->window().size() - rest_.size());
  const bool more = stream_->extend();
  rest_ = stream_->window();
  return more;
}

bool LineScanner::next(std::string_view& line) {
  std::size_t end = rest_.find('\n');
  for (std::size_t searched = rest_.size(); end == std::string_view::npos && extend();
       searched = rest_.size()) {
    if (searched > kMaxLineBytes)
      place().fail("the line behind this one has more than {} bytes; this is no text file, or a corrupt one",
                   kMaxLineBytes);
    end = rest_.find('\n', searched);
  }
  if (rest_.empty()) return false;
  line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++number_;
  return true;
}

bool LineScanner::next_content(std::string_view& line) {
  while (next(line)) {
    line = trim(line);
    if (!line.empty() && line.front() != '#') return true;
  }
  return false;
}

std::string_view WordScanner::word(std::string_view what) {
  if (rest_.empty())
    place_.fail("the line ends where {} should stand; the file is truncated or corrupt", what);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };  // kBlanks, without a call
  const auto end = std::ranges::find_if(rest_, is_blank);
  const std::string_view text(rest_.begin(), end);
  rest_ = {std::find_if_not(end, rest_.end(), is_blank), rest_.end()};
  return text;
}

double WordScanner::number(std::string_view what) {
  const std::string_view text = word(what);
  const double value = any_number(what, text);
  if (!std::isfinite(value)) fail_value(what, text, "a finite number");
  return value;
}

double WordScanner::any_number(std::string_view what) {
  return any_number(what, word(what));
}

double WordScanner::any_number(std::string_view what, std::string_view text) const {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  double value = std::numeric_limits<double>::infinity();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail_value(what, text, "a finite number");
  return value;
}

void WordScanner::fail_value(std::string_view what, std::string_view found, std::string_view wanted) const {
  place_.fail("{} is {}; it has to be {}", what, in_quotes(found), wanted);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string out = "\"";
  for (const char c : with_escapes(text.substr(0, kLongest)))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  if (text.size() > kLongest) out += "...";
  return out + "\"";
}

}  // namespace recon
