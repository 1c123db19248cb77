#pragma once

#include <cstddef>

#include "methods/backend.hpp"
#include "predict/performance_model.hpp"
#include "session/pair/pair_input.hpp"
#include "session/scene/plan_memory.hpp"

namespace recon {

/// The predicted time of the matching of a pair: by the calibration of this machine, else by shipped costs,
/// times what earlier runs on this machine took in proportion.
class PairTime {
 public:
  /// @param threads  of the host
  PairTime(const PairPlan& plan, const Backends& backends, int threads);

  /// Of the matching.
  double seconds() const { return predicted_ * model_.factor(step_); }

  /// Corrects the predictions of later runs by a run that took so many seconds, unless these are few.
  void learn(double seconds);

 private:
  CalibrationKey key_;
  PerformanceModel model_;
  std::string step_;
  double predicted_ = 0;  ///< without earlier runs
};

/// The memory that a pair takes: limit, peak and device_peak.
/// @param limit  of the host, bytes
/// @throws OutOfMemory when a pair cannot be matched within the limit, or within that of the device, with
/// what lowers it
MemoryPlan pair_memory(const PairPlan& plan, const Backend& backend, std::size_t limit);

}  // namespace recon
