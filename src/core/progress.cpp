#include "core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLines = 5s;
constexpr auto kBetweenBars = 100ms;
constexpr int kBarWidth = 24;

/// "45 s", "3 min", "2.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{} s", static_cast<int>(std::ceil(seconds)));
  if (seconds < 100 * 60) return fmt::format("{} min", std::lround(seconds / 60));
  const long tenths = std::lround(seconds / 360);
  return fmt::format("{}.{} h", tenths / 10, tenths % 10);
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::kSilent;
  return isatty(STDERR_FILENO) ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(std::string label, int total, ProgressStyle style)
    : Progress(std::move(label), total, style, std::cerr, [] { return std::chrono::steady_clock::now(); }) {}

Progress::Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock)
    : label_(std::move(label)),
      total_(total),
      style_(style),
      out_(out),
      clock_(std::move(clock)),
      start_(clock_()),
      last_shown_(start_) {
  EXPECTS(total >= 0);
  if (style_ == ProgressStyle::kBar) show(start_);
}

Progress::~Progress() {
  try {
    if (style_ == ProgressStyle::kBar) out_ << std::string("\n") << std::flush;
  } catch (...) {
    // An exception of the stream must not fail the finished work.
  }
}

void Progress::advance(int steps) {
  if (style_ == ProgressStyle::kSilent) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  const auto now = clock_();
  const bool due = now - last_shown_ >= (style_ == ProgressStyle::kBar ? kBetweenBars : kBetweenLines);
  if (due || done_ == total_) show(now);
}

void Progress::show(std::chrono::steady_clock::time_point now) {
  last_shown_ = now;
  const double share = total_ > 0 ? static_cast<double>(done_) / total_ : 1.0;
  const double elapsed = std::chrono::duration<double>(now - start_).count();

  std::string text = printable(label_) + ": ";
  if (style_ == ProgressStyle::kBar) {
    const auto filled = static_cast<std::size_t>(std::min(share, 1.0) * kBarWidth);
    text += fmt::format("[{:{}}] ", std::string(filled, '#'), kBarWidth);
  }
  text += fmt::format("{} of {} ({} %)", done_, total_, static_cast<int>(100 * share));
  if (done_ >= total_)
    text += ", " + duration_text(elapsed);
  else if (done_ > 0)
    text += ", about " + duration_text(elapsed * (total_ - done_) / done_) + " left";

  // A single write, so that lines of other threads are not interleaved.
  out_ << (style_ == ProgressStyle::kBar ? "\r" + text + "\033[K" : text + "\n") << std::flush;
}

}  // namespace recon
