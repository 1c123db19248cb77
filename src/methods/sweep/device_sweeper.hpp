#pragma once

#include <functional>
#include <vector>

#include "methods/device_memory.hpp"
#include "methods/sweep/depth_search.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon {

/// The views that a DeviceSweeper sweeps.
struct DeviceSweeping {
  SweepShape shape;  ///< of the largest problem; reference and sources have one size
  int channels = 1;  ///< of the images: 1 or 3
};

/// A view to sweep, its images and where its maps go.
struct DeviceSweep {
  SweepProblem problem;              ///< without pixels, also of `coarser`
  std::vector<DevicePixels> images;  ///< of the reference and then of the sources
  DevicePixels mask;                 ///< of the reference, 0 where it is ignored; no data: all of it counts
  PhotometricFilterOptions filter;
  DepthRange bounds = kAnyDepth;  ///< exact ones
  /// Chooses the planes of the problem, which has its pixels then; may sweep images of small size.
  std::function<void(const SearchWork& search, SweepProblem& problem)> choose_planes;
  DeviceFloats depth;
  DeviceFloats normal, confidence;  ///< no data: not wanted
};

/// Checks all of a call but where its memory lies.
/// @throws UsageError that names the image or map, what was found and what it may be
void check_device_sweep(const DeviceSweeping& sweeping, const DeviceSweep& sweep);

/// @throws UsageError for a method of which the host computes a part
void check_sweeps_on_device(const MethodSpec& spec);

/// What messages call an image of a sweep: 0 is the reference, 1 the first source.
std::string name_in_sweep(std::size_t view);

/// Sweeps views of one size whose images are in the memory of a GPU.
class DeviceSweeper : public DeviceWork {
 public:
  /// Queues the maps of a view, those of estimate_view within the bounds, with confidences as files have them
  /// and normals. The host takes part where planes are chosen by a search: then it waits for that.
  /// @param stream  a cudaStream_t of the device
  /// @throws UsageError as check_device_sweep, or for memory that is not on the device; OutOfMemory,
  /// DeviceError
  virtual void sweep(DeviceSweep sweep, void* stream) = 0;
};

}  // namespace recon
