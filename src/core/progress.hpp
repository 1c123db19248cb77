#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace recon {

enum class ProgressStyle {
  kSilent,
  kListener,  ///< hands it to the listener
  kLines,     ///< a line at intervals, for files and logs
  kJson,      ///< an object for each step that is done, see set_json_messages
  kBar,       ///< one line that is redrawn, for terminals
};

/// How far a step is.
struct ProgressEvent {
  std::string step;
  int done = 0, total = 0;
  double seconds = 0;  ///< since it began
  double left = 0;     ///< that it will still take, predicted; 0: unknown, or none
};

/// Lets the process show progress on standard error: a program does, a library does not.
void show_progress();

/// Hands all progress of the process to a function during its life, one event at a time, from any thread.
/// Only one exists at a time.
class ProgressListener {
 public:
  /// @param listener  throws nothing; must not begin or end a Progress
  explicit ProgressListener(std::function<void(const ProgressEvent&)> listener);
  ~ProgressListener();
  ProgressListener(const ProgressListener&) = delete;
  ProgressListener& operator=(const ProgressListener&) = delete;
};

/// How to show progress: to the listener where there is one; else, where show_progress was called, on
/// standard error: a bar on a terminal, lines elsewhere, objects after set_json_messages, nothing when
/// `quiet`.
ProgressStyle progress_style(bool quiet);

/// Shows how many of `total` steps are done. `advance` is thread-safe.
///
///     Progress progress("depth maps", views, progress_style(options.quiet));
///     parallel_for(views, [&](int i) { ...; progress.advance(); });
///
/// Prints a line at most every five seconds, and one at the end:
///     depth maps: 7 of 18 (38 %), about 12 s left
///
/// With a predicted time, share and time left are known before the first step is done, and a bar moves
/// between steps. Each step that is done corrects them.
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Writes to standard error.
  /// @param total      number of steps, >= 0
  /// @param predicted  seconds that all of them take; 0: unknown
  Progress(std::string label, int total, ProgressStyle style, double predicted = 0);

  /// For tests: writes to `out`, which must outlive this, and reads the time from `clock`. A bar is drawn
  /// between steps by `redraw` only.
  Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock,
           double predicted = 0);

  /// Ends the line of the bar.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds `steps` finished steps.
  void advance(int steps = 1);

  /// Adds steps that were done before: they say nothing of the time that the others take, and the prediction
  /// is of the others.
  void skip(int steps);

  /// Draws a bar as of now. Thread-safe.
  void redraw();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void start_clockwork();
  double seconds_until(Time now) const;
  double seconds_in_all() const;
  double share(double elapsed, double in_all) const;
  void tell(Time now);
  void show(Time now);
  std::string object(double elapsed, double in_all) const;

  const std::string label_;
  const int total_;
  const ProgressStyle style_;
  std::ostream& out_;
  const Clock clock_;
  const double predicted_;  ///< seconds; 0: unknown
  const Time start_;
  Time last_shown_, last_done_;
  std::mutex mutex_;
  int done_ = 0, skipped_ = 0;
  std::condition_variable_any wakes_;
  std::jthread clockwork_;  ///< the last member: it redraws the bar
};

}  // namespace recon
