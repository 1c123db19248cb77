#include "session/scene/check_devices.hpp"

#include "core/error.hpp"
#include "refine/mean_normals.hpp"

namespace recon {

template <class Work, class Here>
auto CheckDevices::on_device(int view, const Work& work, const Here& here) -> decltype(here()) {
  if (Backend* backend = device_of(view)) try {
      return work(*backend);
    } catch (const DeviceError& error) {
      give_up(backend, error);
    } catch (const OutOfMemory& error) {
      give_up(backend, error);
    }
  return here();
}

Image<Agreement> CheckDevices::count_agreement(int view, const DepthSource& reference,
                                               const std::vector<DepthSource>& sources,
                                               const ConsistencyOptions& options) {
  return on_device(
      view, [&](Backend& backend) { return backend.count_agreement(reference, sources, options); },
      [&] { return recon::count_agreement(reference, sources, options); });
}

Image<Vec3f> CheckDevices::checked_normals(int view, ImageView<const float> depth, const Pinhole& camera) {
  return on_device(
      view, [&](Backend& backend) { return backend.checked_normals(depth, camera); },
      [&] { return recon::checked_normals(depth, camera); });
}

Backend* CheckDevices::device_of(int view) {
  const std::lock_guard lock(mutex_);
  return backends_.empty() ? nullptr : backends_[static_cast<std::size_t>(view) % backends_.size()];
}

void CheckDevices::give_up(const Backend* backend, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (std::erase(backends_, backend) > 0)
    findings_.warn(backend->name() + " fails, the check continues without it: " + error.what());
}

}  // namespace recon
