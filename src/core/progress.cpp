#include "core/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "core/error.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLines = 5s;
constexpr auto kBetweenBars = 100ms;
constexpr int kBarWidth = 24;

/// "45 s", "3 min", "2.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return std::to_string(static_cast<int>(std::ceil(seconds))) + " s";
  if (seconds < 100 * 60) return std::to_string(std::lround(seconds / 60)) + " min";
  const long tenths = std::lround(seconds / 360);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " h";
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

  std::string text = label_ + ": ";
  if (style_ == ProgressStyle::kBar) {
    const int filled = std::min(kBarWidth, static_cast<int>(share * kBarWidth));
    text += "[" + std::string(static_cast<std::size_t>(filled), '#') +
            std::string(static_cast<std::size_t>(kBarWidth - filled), ' ') + "] ";
  }
  text += std::to_string(done_) + " of " + std::to_string(total_) + " (" +
          std::to_string(static_cast<int>(100 * share)) + " %)";
  if (done_ >= total_)
    text += ", " + duration_text(elapsed);
  else if (done_ > 0)
    text += ", about " + duration_text(elapsed * (total_ - done_) / done_) + " left";

  // A single write, so that lines of other threads are not interleaved.
  out_ << (style_ == ProgressStyle::kBar ? "\r" + text + "\033[K" : text + "\n") << std::flush;
}

}  // namespace recon
