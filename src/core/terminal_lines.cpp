#include "core/terminal_lines.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string_view>

namespace recon {
namespace {

/// Erases the row of the cursor, and all below it. tmux keeps a copy of a screen that is erased from its
/// first column on, hence the space.
constexpr std::string_view kErase = "\r\033[2K \033[J\r";

std::atomic<bool> on_standard_error{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

TerminalSize standard_error_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace

TerminalLines::TerminalLines(Write write, std::function<TerminalSize()> size)
    : write_(std::move(write)), size_(std::move(size)) {}

void TerminalLines::add(const void* owner, Text text) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(lines_, owner, [](const auto& line) { return line.first; }) != lines_.end()) return;
  lines_.emplace_back(owner, std::move(text));
  try {
    write({});
  } catch (...) {
    lines_.pop_back();
    throw;
  }
}

void TerminalLines::end(const void* owner) {
  const std::lock_guard lock(mutex_);
  if (const Text text = taken(owner)) write(text(std::max(size_().columns - 1, 1)) + "\n");
}

void TerminalLines::remove(const void* owner) {
  const std::lock_guard lock(mutex_);
  if (taken(owner)) write({});
}

/// The line of an owner, which the others have no longer; empty where there is none.
TerminalLines::Text TerminalLines::taken(const void* owner) {
  const auto line = std::ranges::find(lines_, owner, [](const auto& it) { return it.first; });
  if (line == lines_.end()) return {};
  Text text = std::move(line->second);
  lines_.erase(line);
  return text;
}

void TerminalLines::draw() {
  const std::lock_guard lock(mutex_);
  if (!lines_.empty()) write({});
}

void TerminalLines::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  write(text);
}

void TerminalLines::make_way(const std::function<void()>& others) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(drawn_, false)) write_(std::string(kErase), false);
  others();
  if (!lines_.empty()) write({});
}

/// In the last column and the last row a terminal might begin another one.
void TerminalLines::write(const std::string& staying) {
  std::string text = (drawn_ ? std::string(kErase) : "") + staying;
  if (!lines_.empty()) {
    const auto [columns, rows] = size_();
    text += running(std::max(columns - 1, 1), std::max(rows - 1, 1));
  }
  drawn_ = !lines_.empty();
  write_(text, drawn_);
}

/// All lines, and the way back to the beginning of the first one.
std::string TerminalLines::running(int columns, int rows) const {
  const std::size_t most = static_cast<std::size_t>(rows);
  const std::size_t shown = lines_.size() <= most ? lines_.size() : most - 1;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shown; ++i) texts.push_back(lines_[i].second(columns));
  if (shown < lines_.size()) texts.push_back(fmt::format("and {} more", lines_.size() - shown));
  for (std::string& text : texts) text = text.substr(0, static_cast<std::size_t>(columns));
  return fmt::format("{}\r", fmt::join(texts, "\n")) +
         (texts.size() > 1 ? fmt::format("\033[{}A", texts.size() - 1) : "");
}

TerminalLines& standard_error_lines() {
  static TerminalLines lines(
      [](const std::string& text, bool has_lines) {
        // Unbuffered: one write, so that what other processes write does not come in between.
        std::fwrite(text.data(), 1, text.size(), stderr);
        on_standard_error = has_lines;
      },
      standard_error_size);
  return lines;
}

bool erase_standard_error_lines() noexcept {
  if (!on_standard_error.exchange(false)) return false;
  return ::write(STDERR_FILENO, kErase.data(), kErase.size()) > 0;
}

}  // namespace recon
