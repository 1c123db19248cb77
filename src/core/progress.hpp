#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>

namespace recon {

enum class ProgressStyle {
  kSilent,
  kLines,  ///< a line now and then, for files and logs
  kBar,    ///< one line that is drawn over, for terminals
};

/// How to show progress on standard error: a bar on a terminal, lines elsewhere, nothing when `quiet`.
ProgressStyle progress_style(bool quiet);

/// Shows how much of `total` steps is done. May be advanced from several threads at once.
///
///     Progress progress("depth maps", views, progress_style(options.quiet));
///     parallel_for(views, [&](int i) { ...; progress.advance(); });
///
/// Lines come at most every five seconds, and one when all is done:
///     depth maps: 7 of 18 (38 %), about 12 s left
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// Writes to standard error.
  /// @param total  number of steps, >= 0
  Progress(std::string label, int total, ProgressStyle style);

  /// Writes to `out`, which must outlive this, and takes the time from `clock`: for tests.
  Progress(std::string label, int total, ProgressStyle style, std::ostream& out, Clock clock);

  /// Ends the bar's line where it stands.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `steps` more are done.
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
