#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fuse/consistency.hpp"
#include "fuse/reprojection.hpp"

namespace recon {

/// The depth map of a view, which is loaded where it is needed.
struct DepthSource {
  /// Maps that are in memory as long as `owner` is.
  struct Maps {
    ImageView<const float> depth;
    ImageView<const Vec3f> normal;
    std::shared_ptr<const void> owner;
  };

  Pinhole camera;
  Pose cam_from_world;
  std::uint64_t id = 0;  ///< of the maps within the process, so that a GPU may keep a copy of them
  std::function<Maps()> load;
};

/// What `sources` say of every known depth of `reference`. They are asked one after the other, so that only
/// one is in memory.
/// @throws what loading a map throws
Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                 const ConsistencyOptions& options);

}  // namespace recon
