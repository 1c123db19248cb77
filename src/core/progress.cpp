#include "core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <stop_token>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/json_messages.hpp"
#include "core/printable.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLines = 5s;
constexpr auto kBetweenBars = 100ms;
constexpr auto kBetweenTicks = 500ms;
constexpr int kBarWidth = 24;

/// "45 s", "3 min", "2.5 h".
std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{} s", static_cast<int>(std::ceil(seconds)));
  if (seconds < 100 * 60) return fmt::format("{} min", std::lround(seconds / 60));
  const long tenths = std::lround(seconds / 360);
  return fmt::format("{}.{} h", tenths / 10, tenths % 10);
}

std::atomic<bool> shown{false};

std::mutex listener_mutex;
std::function<void(const ProgressEvent&)> progress_listener;  ///< of listener_mutex; may be empty

bool has_listener() {
  const std::lock_guard lock(listener_mutex);
  return progress_listener != nullptr;
}

}  // namespace

void show_progress() {
  shown = true;
}

ProgressListener::ProgressListener(std::function<void(const ProgressEvent&)> listener) {
  const std::lock_guard lock(listener_mutex);
  EXPECTS(!progress_listener);
  progress_listener = std::move(listener);
}

ProgressListener::~ProgressListener() {
  const std::lock_guard lock(listener_mutex);
  progress_listener = nullptr;
}

ProgressStyle progress_style(bool quiet) {
  if (has_listener()) return ProgressStyle::kListener;
  if (quiet || !shown) return ProgressStyle::kSilent;
  if (json_messages()) return ProgressStyle::kJson;
  return isatty(STDERR_FILENO) ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(std::string label, int total, ProgressStyle style, double predicted)
    : Progress(
          std::move(label), total, style, std::cerr, [] { return std::chrono::steady_clock::now(); },
          predicted) {
  start_clockwork();
}

Progress::Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock,
                   double predicted)
    : label_(std::move(label)),
      total_(total),
      style_(style),
      out_(out),
      clock_(std::move(clock)),
      predicted_(predicted),
      start_(clock_()),
      last_shown_(start_),
      last_done_(start_) {
  EXPECTS(total >= 0 && predicted >= 0);
  if (style_ == ProgressStyle::kListener) tell(start_);
  const bool is_long = predicted >= std::chrono::duration<double>(kBetweenLines).count();
  if (style_ == ProgressStyle::kBar || style_ == ProgressStyle::kJson ||
      (style_ == ProgressStyle::kLines && total > 0 && is_long))
    show(start_);
}

Progress::~Progress() {
  clockwork_ = std::jthread();  // a bar that is drawn later would begin a line
  try {
    if (style_ == ProgressStyle::kBar) out_ << std::string("\n") << std::flush;
  } catch (...) {
    // An exception of the stream must not fail the finished work.
  }
}

/// Without a thread, the bar moves with the steps only.
void Progress::start_clockwork() {
  if (style_ != ProgressStyle::kBar || predicted_ <= 0) return;
  try {
    clockwork_ = std::jthread([this](const std::stop_token& stop) {
      std::mutex waits;
      std::unique_lock lock(waits);
      while (!wakes_.wait_for(lock, stop, kBetweenTicks, [&] { return stop.stop_requested(); })) redraw();
    });
  } catch (const std::system_error&) {
  }
}

void Progress::advance(int steps) {
  if (style_ == ProgressStyle::kSilent) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  const auto now = clock_();
  if (steps > 0) last_done_ = now;
  if (style_ == ProgressStyle::kListener) return tell(now);
  const bool due = now - last_shown_ >= (style_ == ProgressStyle::kLines ? kBetweenLines : kBetweenBars);
  if (due || done_ == total_) show(now);
}

void Progress::skip(int steps) {
  {
    const std::lock_guard lock(mutex_);
    skipped_ += steps;
  }
  advance(steps);
}

void Progress::redraw() {
  const std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::kBar && done_ < total_) show(clock_());
}

double Progress::seconds_until(Time now) const {
  return std::chrono::duration<double>(now - start_).count();
}

/// What all steps take, by those that are done and by the prediction, which counts as one of them; 0 where
/// nothing is known.
double Progress::seconds_in_all() const {
  const int done = done_ - skipped_;
  if (done == 0) return predicted_;
  const double measured = seconds_until(last_done_) * (total_ - skipped_) / done;
  return predicted_ > 0 ? (done * measured + predicted_) / (done + 1) : measured;
}

/// That of the steps or, with a prediction, of the time if it is larger; whole only at the end.
double Progress::share(double elapsed, double in_all) const {
  if (done_ >= total_) return 1;
  constexpr double kMaxUnfinished = 0.99;
  const double by_time = predicted_ > 0 && in_all > 0 ? std::min(elapsed / in_all, kMaxUnfinished) : 0;
  return std::max(by_time, static_cast<double>(done_) / total_);
}

void Progress::tell(Time now) {
  const double elapsed = seconds_until(now);
  const double left = done_ < total_ ? std::max(0.0, seconds_in_all() - elapsed) : 0;
  const std::lock_guard lock(listener_mutex);
  if (progress_listener) progress_listener({label_, done_, total_, elapsed, left});
}

std::string Progress::object(double elapsed, double in_all) const {
  constexpr double kDigits = 1000;
  const auto rounded = [](double seconds) { return std::round(seconds * kDigits) / kDigits; };
  nlohmann::ordered_json object = {
      {"step", label_}, {"done", done_}, {"total", total_}, {"seconds", rounded(elapsed)}};
  if (done_ >= total_)
    object["left"] = 0;
  else if (in_all > 0)
    object["left"] = rounded(std::max(0.0, in_all - elapsed));
  return message_object(std::move(object));
}

void Progress::show(Time now) {
  last_shown_ = now;
  const double elapsed = seconds_until(now), in_all = seconds_in_all();
  if (style_ == ProgressStyle::kJson) {
    out_ << object(elapsed, in_all) + "\n" << std::flush;
    return;
  }
  const double shown = share(elapsed, in_all);

  std::string text = printable(label_) + ": ";
  if (style_ == ProgressStyle::kBar) {
    const auto filled = static_cast<std::size_t>(shown * kBarWidth);
    text += fmt::format("[{:{}}] ", std::string(filled, '#'), kBarWidth);
  }
  text += fmt::format("{} of {} ({} %)", done_, total_, static_cast<int>(100 * shown));
  if (done_ >= total_)
    text += ", " + duration_text(elapsed);
  else if (in_all > elapsed)
    text += ", about " + duration_text(in_all - elapsed) + " left";
  else if (in_all > 0)
    text += ", " + duration_text(elapsed) + " so far";

  // A single write, so that lines of other threads are not interleaved.
  out_ << (style_ == ProgressStyle::kBar ? "\r" + text + "\033[K" : text + "\n") << std::flush;
}

}  // namespace recon
