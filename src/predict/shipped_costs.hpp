#pragma once

#include "predict/performance_model.hpp"

namespace recon {

/// The time of a call by the costs that ship with the program: measured on two threads of a Xeon with
/// AVX-512 and on an H200, accurate to a factor of two elsewhere. Threads of a CPU are taken to share the
/// work evenly.
/// @param threads  of the CPU; 0: a GPU
double shipped_seconds(const StageTask& task, int threads);

/// Seconds by the model if it knows the stage, else by the shipped costs.
inline double predicted_seconds(const PerformanceModel& model, const StageTask& task, int threads) {
  return model.knows(task.stage, task.radius) ? model.seconds(task) : shipped_seconds(task, threads);
}

/// Costs of the steps around matching, seconds of one thread per unit.
struct HostCosts {
  double photo_pixel = 6e-8;    ///< decoded, and written as it is
  double warped_pixel = 5e-7;   ///< decoded, undistorted and encoded
  double observation = 1.5e-6;  ///< of the model, undistorted and written, by one thread
  double map_pixel = 1.1e-7;  ///< prepared and filtered: of a view and of each image that it is matched with
  double checked_pixel = 1e-7;  ///< of a view, against each of its sources
  double fused_pixel = 5e-8;    ///< of a view, against each view that overlaps with it
  double view_file = 0.01;      ///< fsync of a view's files, per write
};

}  // namespace recon
