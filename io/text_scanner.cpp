#include "io/text_scanner.hpp"

namespace recon {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool LineScanner::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
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
    place_.fail("the line ends where " + std::string(what) +
                " should stand; the file is truncated or corrupt");
  const std::size_t end = rest_.find_first_of(kBlanks);
  const std::string_view text = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view{} : trim(rest_.substr(end));
  return text;
}

double WordScanner::number(std::string_view what) {
  const std::string_view text = word(what);
  const std::string_view digits = !text.empty() && text.front() == '+' ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    fail_value(what, text, "a finite number");
  return value;
}

void WordScanner::fail_value(std::string_view what, std::string_view found, std::string_view wanted) const {
  place_.fail(std::string(what) + " is " + in_quotes(found) + "; it has to be " + std::string(wanted));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  if (text.size() > kLongest) out += "...";
  return out + "\"";
}

}  // namespace recon
