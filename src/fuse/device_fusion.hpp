#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fuse/fusion.hpp"
#include "fuse/used_pixels.hpp"

namespace recon {

/// A view that is fused, or one of its neighbours.
struct FusionInput {
  int index = 0;  ///< of the view
  const FusionView* view = nullptr;
  std::shared_ptr<const FusionMaps> maps;  ///< null where a device has them
  UsedPixels* used = nullptr;              ///< of a neighbour: null if no point starts there any more
};

/// What the points of a view are made from.
struct FusionJob {
  FusionInput reference;
  std::vector<FusionInput> neighbours;  ///< those that have maps
};

/// How far a job is done: rows [0, rows) of the reference, whose points are all with the sink.
struct FusionProgress {
  int rows = 0;
  std::uint64_t points = 0;
};

/// Fuses views on another device than the CPU, one job after the other: the same points and used pixels.
/// Where it fails, the CPU continues with the rows that are left.
class DeviceFusion {
 public:
  virtual ~DeviceFusion() = default;

  /// Whether the maps of a view are in its memory at the moment.
  virtual bool has(int view) const = 0;

  /// Copies the maps and used pixels of a job that it does not have. Returns false, and has not begun, where
  /// its memory does not suffice.
  /// @throws DeviceError, OutOfMemory
  virtual bool begin(const FusionJob& job) = 0;

  /// Passes the points of the job that has begun to `sink`, and adds the pixels that they use.
  /// @param[in,out] progress  also where it throws
  /// @throws DeviceError, and what the sink throws
  virtual void finish(const FusionJob& job, PointSink& sink, FusionProgress& progress) = 0;
};

}  // namespace recon
