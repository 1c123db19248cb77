#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace recon {

/// Seconds since the system started this process, to a hundredth; 0 where that is unknown.
double seconds_since_process_start();

/// Times of steps in seconds, in their order.
using StepTimes = std::vector<std::pair<std::string, double>>;

/// Measures the times of consecutive steps.
class StepClock {
 public:
  /// Ends the step `step`, which began at the last call or at construction.
  void end(const std::string& step) {
    const auto now = std::chrono::steady_clock::now();
    times_.emplace_back(step, std::chrono::duration<double>(now - last_).count());
    last_ = now;
    spdlog::debug("{}: {:.2f} s", step, times_.back().second);
  }
  const StepTimes& times() const { return times_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  StepTimes times_;
};

}  // namespace recon
