#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/log.hpp"

namespace recon {

/// Seconds since the system started this process, to a hundredth; 0 where that is unknown.
inline double seconds_since_process_start() {
  std::ifstream file("/proc/self/stat");
  std::string field;
  while (std::getline(file, field, ')')) continue;  // the name, in parentheses, may hold anything
  std::istringstream stat(field);
  for (int i = 3; i < 22; ++i) stat >> field;  // the start, in ticks, is field 22
  double ticks = 0;
  timespec now{};
  if (!(stat >> ticks) || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double started = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return std::max(0.0, static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started);
}

/// Times of steps in seconds, in their order.
using StepTimes = std::vector<std::pair<std::string, double>>;

/// Of all steps, seconds.
inline double elapsed(const StepTimes& times) {
  double seconds = 0;
  for (const auto& step : times) seconds += step.second;
  return seconds;
}

/// Measures the times of consecutive steps.
class StepClock {
 public:
  /// Ends the step `step`, which began at the last call or at construction.
  void end(const std::string& step) {
    const auto now = Clock::now();
    times_.emplace_back(step, std::chrono::duration<double>(now - last_).count());
    last_ = now;
    messages().debug("{}: {:.2f} s", step, times_.back().second);
  }
  /// Does a step, which ends also where it throws.
  template <class Work>
  void measure(const std::string& step, const Work& work) {
    try {
      work();
    } catch (...) {
      end(step);
      throw;
    }
    end(step);
  }
  const StepTimes& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_ = Clock::now();
  StepTimes times_;
};

}  // namespace recon
