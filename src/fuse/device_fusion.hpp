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
  float normal_noise = 0;                  ///< see recon::normal_noise
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

/// A view that is fused on another device, which has begun. The job that it was begun with outlives it.
class FusionInProgress {
 public:
  virtual ~FusionInProgress() = default;

  /// Adds the pixels that the points of the view use to those of its neighbours. The next view may begin
  /// then.
  /// @throws DeviceError
  virtual void mark() = 0;

  /// Passes the points of the view to `sink`, after `mark`. Another thread may begin and mark the next view
  /// meanwhile.
  /// @param[in,out] progress  also where it throws
  /// @throws DeviceError, and what the sink throws
  virtual void pass_on(PointSink& sink, FusionProgress& progress) = 0;
};

/// Fuses views on another device than the CPU: the same points and used pixels. Where it fails, the CPU
/// continues with the rows that are left.
class DeviceFusion {
 public:
  virtual ~DeviceFusion() = default;

  /// Whether the maps of a view are in its memory at the moment.
  virtual bool has(int view) const = 0;

  /// Copies the maps and used pixels of a job that it does not have. Null, and it has not begun, where its
  /// memory does not suffice, beside the view before too while that is there.
  /// @throws DeviceError, OutOfMemory
  virtual std::unique_ptr<FusionInProgress> begin(const FusionJob& job) = 0;
};

}  // namespace recon
