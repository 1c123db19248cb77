#pragma once

#include <mutex>
#include <vector>

#include "fuse/agreement.hpp"
#include "methods/backend.hpp"
#include "session/products/findings.hpp"

namespace recon {

/// The devices that compare the depth maps of views, in turn; where one fails, the host goes on. Thread-safe.
class CheckDevices {
 public:
  /// The arguments outlive this.
  CheckDevices(const Backends& backends, Findings& findings) : findings_(findings) {
    for (const auto& backend : backends) backends_.push_back(backend.get());
  }

  /// What the sources say of the depths of a view, see recon::count_agreement.
  Image<Agreement> count_agreement(int view, const DepthSource& reference,
                                   const std::vector<DepthSource>& sources,
                                   const ConsistencyOptions& options);

  /// The normals of checked depths of a view, see recon::checked_normals.
  Image<Vec3f> checked_normals(int view, ImageView<const float> depth, const Pinhole& camera);

 private:
  /// The result of `work` on the device of a view or, if it fails, of `here`.
  template <class Work, class Here>
  auto on_device(int view, const Work& work, const Here& here) -> decltype(here());
  Backend* device_of(int view);
  void give_up(const Backend* backend, const Error& error);

  Findings& findings_;
  std::mutex mutex_;
  std::vector<Backend*> backends_;  ///< those that have not failed
};

}  // namespace recon
