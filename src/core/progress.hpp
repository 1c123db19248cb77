#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace recon {

class TerminalLines;

enum class ProgressStyle {
  kSilent,
  kListener,  ///< hands it to the listener
  kLines,     ///< a line at intervals, for files and logs
  kJson,      ///< an object for each step that is done, see set_json_messages
  kBar,       ///< a line that is redrawn while the step runs, for terminals
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
/// standard error: a bar on a terminal that can move its cursor, lines elsewhere, objects after
/// set_json_messages, nothing when `quiet`.
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
/// between steps, as far as the next one. Each step that is done corrects them. On a terminal each has a line
/// of its own, as wide as the terminal permits, and at the end a line that stays, unless the thread works on
/// one of several subjects (message_subject):
///     depth maps: [#########               ] 7 of 18 (38 %), about 12 s left
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Writes to standard error.
  /// @param total      number of steps, >= 0
  /// @param predicted  seconds that all of them take; 0: unknown
  Progress(std::string label, int total, ProgressStyle style, double predicted = 0);

  /// For tests: writes to `out`, which must outlive this, and reads the time from `clock`.
  /// @param style  not kBar
  Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock,
           double predicted = 0);

  /// For tests: a bar of a terminal that must outlive this. It is drawn between steps by `lines` only.
  Progress(std::string label, int total, TerminalLines& lines, Clock clock, double predicted = 0);

  /// Ends the bar, also where steps are left.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds `steps` finished steps.
  void advance(int steps = 1);

  /// Adds steps that were done before: they say nothing of the time that the others take, and the prediction
  /// is of the others.
  void skip(int steps);

  /// Adds steps that an earlier run did, which are skipped. Where all are, no line stays at the end: whoever
  /// keeps them says so.
  void keep(int steps);

  /// Begins again with no step done, and does not say so.
  void restart();

 private:
  using Time = std::chrono::steady_clock::time_point;

  Progress(std::string label, int total, ProgressStyle style, std::ostream& out, TerminalLines& lines,
           Clock clock, double predicted);
  void add_bar();
  void start_clockwork();
  double seconds_until(Time now) const;
  double seconds_in_all() const;
  double share(double elapsed, double in_all) const;
  int percent() const;
  void tell(Time now);
  void write(Time now);
  std::string object(double elapsed, double in_all) const;
  std::string time_text(double elapsed, double in_all) const;
  std::string bar(int columns);

  const bool of_subject_;  ///< its line, which names the message_subject, does not stay at the end
  const std::string label_;
  const int total_;
  const ProgressStyle style_;
  std::ostream& out_;
  TerminalLines& lines_;
  const Clock clock_;
  const double predicted_;  ///< seconds; 0: unknown
  std::mutex mutex_;        ///< of what follows; not held where lines_ are drawn, which ask for the bar
  Time start_, last_shown_, last_done_;
  int done_ = 0, skipped_ = 0, kept_ = 0;
  bool stopped_ = false;  ///< at the end
  std::condition_variable_any wakes_;
  std::jthread clockwork_;  ///< the last member: it draws the bar
};

}  // namespace recon
