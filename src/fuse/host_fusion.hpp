#pragma once

#include <vector>

#include "fuse/device_fusion.hpp"
#include "fuse/fusion.hpp"

namespace recon {

/// The points of a row, or of some consecutive rows.
struct FusedRow {
  std::vector<FusedPoint> points;
  std::vector<std::uint32_t> views;  ///< see FusedPoints

  void clear() {
    points.clear();
    views.clear();
  }
  FusedPoints all() const { return {points, views}; }
};

/// Fuses views on the CPU.
class HostFusion {
 public:
  explicit HostFusion(const FusionOptions& options) : options_(options) {}

  /// Passes the points of the job to `sink`, row by row, from row `progress.rows` on, and marks the pixels
  /// that they use. All maps are there.
  void fuse(const FusionJob& job, PointSink& sink, FusionProgress& progress);

 private:
  const FusionOptions options_;
  std::vector<FusedRow> rows_;  ///< of the current view; kept, as new memory costs as much as the points
};

}  // namespace recon
