#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>

namespace recon {

enum class ProgressStyle {
  kSilent,
  kLines,  ///< a line at intervals, for files and logs
  kBar,    ///< one line that is redrawn, for terminals
};

/// How to show progress on standard error: a bar on a terminal, lines elsewhere, nothing when `quiet`.
ProgressStyle progress_style(bool quiet);

/// Shows how many of `total` steps are done. `advance` is thread-safe.
///
///     Progress progress("depth maps", views, progress_style(options.quiet));
///     parallel_for(views, [&](int i) { ...; progress.advance(); });
///
/// Prints a line at most every five seconds, and one at the end:
///     depth maps: 7 of 18 (38 %), about 12 s left
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Writes to standard error.
  /// @param total  number of steps, >= 0
  Progress(std::string label, int total, ProgressStyle style);

  /// For tests: writes to `out`, which must outlive this, and reads the time from `clock`.
  Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock);

  /// Ends the line of the bar.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds `steps` finished steps.
  void advance(int steps = 1);

 private:
  void show(std::chrono::steady_clock::time_point now);

  const std::string label_;
  const int total_;
  const ProgressStyle style_;
  std::ostream& out_;
  const Clock clock_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_shown_;
  std::mutex mutex_;
  int done_ = 0;
};

}  // namespace recon
