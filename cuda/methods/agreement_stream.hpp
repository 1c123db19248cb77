#pragma once

#include <optional>
#include <vector>

#include "cuda/device/stream.hpp"
#include "cuda/fuse/agreement.hpp"
#include "cuda/methods/staging.hpp"
#include "cuda/methods/sweep/image_cache.hpp"
#include "fuse/agreement.hpp"

namespace recon::cuda {

/// Resources to check the depths of one view at a time on one device. The maps of views stay there as long as
/// the cache has memory. Not thread-safe; the device must be current in the calling thread.
class AgreementStream {
 public:
  explicit AgreementStream(ImageCache& cache) : cache_(cache) {}

  /// See recon::count_agreement; empty if the cache has too little memory for a view with its sources.
  /// @throws OutOfMemory, DeviceError, and what loading a map throws
  std::optional<Image<Agreement>> count(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                        const ConsistencyOptions& options);

 private:
  std::optional<DeviceMaps> acquire(const DepthSource& source);

  ImageCache& cache_;
  std::vector<ImageCache::Use> uses_;  ///< of the call in progress
  Stream stream_;
  Staging staging_;
};

}  // namespace recon::cuda
