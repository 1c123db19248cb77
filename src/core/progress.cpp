#include "core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/duration.hpp"
#include "core/error.hpp"
#include "core/log_file.hpp"
#include "core/message_subject.hpp"
#include "core/printable.hpp"
#include "core/terminal_lines.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLines = 5s;
constexpr auto kBetweenBars = 100ms;
constexpr auto kBetweenTicks = 500ms;
/// Characters of a bar, which has a multiple of kBarUnit: it does not change with each digit beside it.
constexpr std::size_t kMaxBar = 24, kMinBar = 8, kBarUnit = 4;

std::atomic<bool> shown{false};

std::mutex listener_mutex;
std::function<void(const ProgressEvent&)> progress_listener;  ///< of listener_mutex; may be empty

bool has_listener() {
  const std::lock_guard lock(listener_mutex);
  return progress_listener != nullptr;
}

bool is_terminal_with_lines() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && (kind == nullptr || std::string_view(kind) != "dumb");
}

std::chrono::steady_clock::time_point steady_now() {
  return std::chrono::steady_clock::now();
}

/// The end of a path, by which people know it: its last two components, behind ".../" if there are more.
std::string end_of_path(std::string path) {
  constexpr auto kNone = std::string::npos;
  path.resize(path.find_last_not_of('/') + 1);
  const std::size_t last = path.rfind('/'),
                    before = last == kNone || last == 0 ? kNone : path.rfind('/', last - 1);
  return before == kNone ? path : "..." + path.substr(before);
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
  return is_terminal_with_lines() ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(std::string label, int total, ProgressStyle style, double predicted)
    : Progress(std::move(label), total, style, std::cerr, standard_error_lines(), steady_now, predicted) {
  start_clockwork();
}

Progress::Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock,
                   double predicted)
    : Progress(std::move(label), total, style, out, standard_error_lines(), std::move(clock), predicted) {
  EXPECTS(style != ProgressStyle::kBar);
}

Progress::Progress(std::string label, int total, TerminalLines& lines, Clock clock, double predicted)
    : Progress(std::move(label), total, ProgressStyle::kBar, std::cerr, lines, std::move(clock), predicted) {}

Progress::Progress(std::string label, int total, ProgressStyle style, std::ostream& out, TerminalLines& lines,
                   Clock clock, double predicted)
    : of_subject_(style == ProgressStyle::kBar && message_subject() != nullptr),
      label_(of_subject_ ? end_of_path(*message_subject()) + ": " + label : std::move(label)),
      total_(total),
      style_(style),
      out_(out),
      lines_(lines),
      clock_(std::move(clock)),
      predicted_(predicted),
      start_(clock_()),
      last_shown_(start_),
      last_done_(start_) {
  EXPECTS(total >= 0 && predicted >= 0);
  const bool is_long = predicted >= std::chrono::duration<double>(kBetweenLines).count();
  if (style_ == ProgressStyle::kListener) tell(start_);
  if (style_ == ProgressStyle::kBar) add_bar();
  if (style_ == ProgressStyle::kJson || (style_ == ProgressStyle::kLines && total > 0 && is_long))
    write(start_);
}

Progress::~Progress() {
  clockwork_ = std::jthread();
  if (style_ != ProgressStyle::kBar) return;
  try {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    of_subject_ ? lines_.remove(this) : lines_.end(this);
  } catch (...) {
    // An exception of the stream must not fail the finished work.
  }
}

void Progress::add_bar() {
  if (total_ > 0) lines_.add(this, [this](int columns) { return bar(columns); });
}

/// Without a thread, the bar moves with the steps only.
void Progress::start_clockwork() {
  if (style_ != ProgressStyle::kBar || predicted_ <= 0) return;
  try {
    clockwork_ = std::jthread([this](const std::stop_token& stop) {
      std::mutex waits;
      std::unique_lock lock(waits);
      while (!wakes_.wait_for(lock, stop, kBetweenTicks, [&] { return stop.stop_requested(); }))
        lines_.draw();
    });
  } catch (const std::system_error&) {
  }
}

void Progress::advance(int steps) {
  if (style_ == ProgressStyle::kSilent) return;
  bool ends = false, all_kept = false;
  {
    const std::lock_guard lock(mutex_);
    done_ += steps;
    const auto now = clock_();
    if (steps > 0) last_done_ = now;
    if (style_ == ProgressStyle::kListener) return tell(now);
    ends = done_ >= total_;
    all_kept = ends && kept_ > 0 && kept_ == done_;
    if (all_kept && style_ == ProgressStyle::kLines) return;
    const bool due = now - last_shown_ >= (style_ == ProgressStyle::kLines ? kBetweenLines : kBetweenBars);
    if (!due && !ends) return;
    last_shown_ = now;
    if (style_ != ProgressStyle::kBar) return write(now);
  }
  if (ends && (all_kept || of_subject_))
    lines_.remove(this);
  else
    ends ? lines_.end(this) : lines_.draw();
}

void Progress::keep(int steps) {
  {
    const std::lock_guard lock(mutex_);
    kept_ += steps;
  }
  skip(steps);
}

void Progress::skip(int steps) {
  {
    const std::lock_guard lock(mutex_);
    skipped_ += steps;
  }
  advance(steps);
}

void Progress::restart() {
  {
    const std::lock_guard lock(mutex_);
    done_ = skipped_ = kept_ = 0;
    start_ = last_done_ = clock_();
  }
  if (style_ == ProgressStyle::kBar) add_bar();
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

/// Of the steps that are done.
int Progress::percent() const {
  return total_ > 0 ? static_cast<int>(100.0 * done_ / total_) : 100;
}

/// What of a bar is filled: the share of the steps or, with a prediction, of the time if it is larger. Where
/// a step takes longer than predicted, it stays below that of the steps with the next one; it is whole only
/// at the end.
double Progress::share(double elapsed, double in_all) const {
  if (done_ >= total_) return 1;
  constexpr double kMaxUnfinished = 0.99;
  const double by_time = predicted_ > 0 && in_all > 0 ? elapsed / in_all : 0;
  const double done = static_cast<double>(done_) / total_, next = static_cast<double>(done_ + 1) / total_;
  return std::max(done, std::min({by_time, next, kMaxUnfinished}));
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

/// ", about 12 s left".
std::string Progress::time_text(double elapsed, double in_all) const {
  if (done_ >= total_) return ", " + measured_text(elapsed);
  if (stopped_) return ", stopped after " + measured_text(elapsed);
  if (in_all > elapsed) return ", about " + duration_text(std::ceil(in_all - elapsed)) + " left";
  return in_all > 0 ? ", " + duration_text(std::ceil(elapsed)) + " so far" : "";
}

/// A line or an object; a single write, so that lines of other threads are not interleaved.
void Progress::write(Time now) {
  const double elapsed = seconds_until(now), in_all = seconds_in_all();
  out_ << (style_ == ProgressStyle::kJson ? object(elapsed, in_all) + "\n"
                                          : fmt::format("{}: {} of {} ({} %){}\n", printable(label_), done_,
                                                        total_, percent(), time_text(elapsed, in_all)))
       << std::flush;
}

/// As much as fits into `columns`. What stays at the end has no bar; a bar has no percentage beside it, since
/// it moves with the time.
std::string Progress::bar(int columns) {
  const std::lock_guard lock(mutex_);
  const std::size_t width = static_cast<std::size_t>(columns);
  const bool ended = stopped_ || done_ >= total_;
  const double elapsed = seconds_until(done_ >= total_ ? last_done_ : clock_()), in_all = seconds_in_all();
  const std::string label = printable(label_) + ": ", count = fmt::format("{} of {}", done_, total_),
                    part = fmt::format(" ({} %)", percent()), time = time_text(elapsed, in_all);
  constexpr std::size_t kBrackets = 3;  // and a space
  const std::size_t others = label.size() + count.size() + time.size() + kBrackets;
  if (!ended && width >= others + kMinBar) {
    const std::size_t length = std::min(kMaxBar, (width - others) / kBarUnit * kBarUnit);
    const auto filled = static_cast<std::size_t>(share(elapsed, in_all) * static_cast<double>(length));
    return fmt::format("{}[{:{}}] {}{}", label, std::string(filled, '#'), length, count, time);
  }
  for (const std::string& rest : {part + time, time, part})
    if (label.size() + count.size() + rest.size() <= width) return label + count + rest;
  return label + count;
}

}  // namespace recon
