#include "methods/backend.hpp"

#include "fuse/agreement.hpp"
#include "fuse/device_fusion.hpp"
#include "methods/stereo/device_matcher.hpp"
#include "methods/sweep/device_sweeper.hpp"
#include "refine/mean_normals.hpp"
#include "refine/normals.hpp"

namespace recon {

Image<Vec3f> Backend::normals(ImageView<const float> depth, const Pinhole& camera, std::uint64_t) {
  return normals_from_depth(depth, camera);
}

Image<Vec3f> Backend::checked_normals(ImageView<const float> depth, const Pinhole& camera) {
  return recon::checked_normals(depth, camera);
}

Image<Agreement> Backend::count_agreement(const DepthSource& reference,
                                          const std::vector<DepthSource>& sources,
                                          const ConsistencyOptions& options) {
  return recon::count_agreement(reference, sources, options);
}

std::unique_ptr<DeviceMatcher> Backend::device_matcher(const DeviceMatching& matching) {
  check_runs_on_device(matching.spec);
  throw DeviceUnavailable("images in device memory need a GPU; this device is " + name());
}

std::unique_ptr<DeviceSweeper> Backend::device_sweeper(const DeviceSweeping& sweeping) {
  check_sweeps_on_device(sweeping.shape);
  throw DeviceUnavailable("images in device memory need a GPU; this device is " + name());
}

std::unique_ptr<DeviceFusion> Backend::fusion(const std::vector<FusionView>&, const FusionOptions&) {
  return nullptr;
}

}  // namespace recon
