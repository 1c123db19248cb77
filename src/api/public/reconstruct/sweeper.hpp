#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "reconstruct/device.hpp"
#include "reconstruct/device_image.hpp"
#include "reconstruct/export.hpp"
#include "reconstruct/view.hpp"

namespace reconstruct {

/// An undistorted photo in the memory of a GPU with its camera.
struct DeviceView {
  DeviceImage image;
  Camera camera;
  Pose cam_from_world;
  DeviceImage mask = {};  ///< of the reference: 0 where it is ignored, kGrey8; or no data
};

/// Where the maps of a view go, as DepthMaps has them. Those without data are not made, but for the depth.
struct DeviceDepthMapsView {
  DeviceMapView depth;
  DeviceVectorMapView normal = {};
  DeviceMapView confidence = {};
};

/// Maps of the library in the memory of a GPU.
struct DeviceDepthMaps {
  DeviceMap depth;
  DeviceVectorMap normal;
  DeviceMap confidence;

  operator DeviceDepthMapsView() const { return {depth, normal, confidence}; }
};

/// The depths of a call where they are not those of the options depth-min and depth-max: exact bounds, > 0.
struct DepthBounds {
  std::optional<double> min = {}, max = {};
};

/// Of the library.
namespace detail {
struct SweeperState;
}

/// Sweeps views of one size that are in the memory of a GPU, such as those of a moving camera: images and
/// maps are not copied to the host, and `sweep` allocates nothing. The maps are those of `sweep` on the same
/// device, bit for bit. The host chooses planes, by cameras and poses, and queues the work. Without both
/// bounds of the depths it searches for them first, in maps with 100 to 200 rows or columns that it
/// copies from the GPU, and so waits for these. Copies are the same sweeper. Thread-safe: calls may name any
/// streams, and the work of each waits on the GPU for that of the one before; a sweeper for each stream works
/// side by side. One that was moved from is empty: its calls throw UsageError.
class RECONSTRUCT_API Sweeper {
 public:
  /// Takes all memory.
  /// @param device  with a GPU, of several the first. Its limit of memory counts for each sweeper by itself
  /// @param width, height  of all images, pixels
  /// @param type  of the images: kGrey8 or kRgb8
  /// @param sources  the most of a call, 1 to 32
  /// @param options  as of `sweep`, without what the host computes: graphcut in refine and optimizer
  /// @throws UsageError that names the option or the image, the value found and what it may be
  /// @throws DeviceUnavailable where the device is the CPU; OutOfMemory, DeviceError
  Sweeper(const Device& device, int width, int height, PixelType type, int sources,
          const Options& options = {});

  /// Queues the maps of a reference view. Returns at once where the depths have both bounds, else when these
  /// were searched for. Errors of the GPU that come later are seen by the caller's next call of CUDA on the
  /// stream.
  /// @param reference  of the size and type of the sweeper, on its GPU, as sources and maps
  /// @param sources  best first; at least one and no more than those of the sweeper
  /// @param maps  written; see DepthMaps
  /// @param stream  a cudaStream_t of the GPU, with which the work is ordered; null: the legacy default
  /// stream
  /// @param bounds  of the depths of this call
  /// @throws UsageError for another size, type or pitch, for memory of the host or of another GPU, for a
  /// camera or a pose that is none, and where the sweeper is empty; InputError where all cameras are in one
  /// place
  /// @throws OutOfMemory, DeviceError
  void sweep(const DeviceView& reference, const std::vector<DeviceView>& sources,
             const DeviceDepthMapsView& maps, void* stream = nullptr, const DepthBounds& bounds = {}) const;

  /// Lets work that is queued later on another stream of the GPU wait for the last call, if there was one.
  /// Returns at once.
  /// @param stream  null: the legacy default stream
  /// @throws UsageError where the sweeper is empty; DeviceError
  void order_after_sweep(void* stream) const;

  /// Memory for results, once for many calls. It may outlive the sweeper. To allocate it and to free it may
  /// wait for the GPU.
  /// @throws UsageError where the sweeper is empty; OutOfMemory, DeviceError
  DeviceDepthMaps new_maps() const;

  /// @throws UsageError where the sweeper is empty, as what follows does
  int width() const;
  int height() const;
  PixelType type() const;
  int sources() const;  ///< the most of a call
  int device() const;   ///< index of the GPU, as CUDA counts
  /// Device memory that it works with: without the maps of `new_maps`.
  std::size_t bytes() const;

  /// Whether it was moved from.
  bool empty() const noexcept { return state_ == nullptr; }

 private:
  const detail::SweeperState& state() const;

  std::shared_ptr<const detail::SweeperState> state_;
};

}  // namespace reconstruct
