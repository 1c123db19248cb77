#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cuda/device/stream.hpp"
#include "cuda/fuse/agreement.hpp"
#include "cuda/methods/staging.hpp"
#include "cuda/methods/sweep/image_cache.hpp"
#include "fuse/agreement.hpp"

namespace recon::cuda {

/// Resources for work on the maps of one view at a time on one device, where they stay as long as the cache
/// has memory. Not thread-safe; the device must be current in the calling thread.
class MapStream {
 public:
  explicit MapStream(ImageCache& cache) : cache_(cache) {}

  /// See recon::normals_from_depth; empty if the cache has too little memory.
  /// @param id  of the maps, see DepthSource
  /// @throws OutOfMemory, DeviceError
  std::optional<Image<Vec3f>> normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t id);

  /// See recon::count_agreement; empty if the cache has too little memory for a view with its sources.
  /// @throws OutOfMemory, DeviceError, and what loading a map throws
  std::optional<Image<Agreement>> count_agreement(const DepthSource& reference,
                                                  const std::vector<DepthSource>& sources,
                                                  const ConsistencyOptions& options);

 private:
  using Upload = std::function<void(const DeviceMaps& maps)>;

  std::optional<DeviceMaps> acquire(const Pinhole& camera, std::uint64_t id, const Upload& upload);
  std::optional<DeviceMaps> acquire(const DepthSource& source);

  ImageCache& cache_;
  std::vector<ImageCache::Use> uses_;  ///< of the call in progress
  Stream stream_;
  Staging staging_;
};

}  // namespace recon::cuda
