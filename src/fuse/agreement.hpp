#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/agreement_step.hpp"
#include "fuse/consistency.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The depth map of a view with the data to compare it with others. Unknown is NaN.
struct DepthView {
  Pinhole camera;
  Pose cam_from_world;
  ImageView<const float> depth;       ///< z, scene units
  ImageView<const Vec3f> normal;      ///< unit, camera frame
  ImageView<const float> confidence;  ///< [0, 1]
  float normal_noise = 0;             ///< see recon::normal_noise
};

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
  float normal_noise = 0;  ///< see recon::normal_noise
};

/// Some points in one frame.
struct PointBlock {
  static constexpr int kMax = 64;
  int count = 0;  ///< at most kMax
  alignas(64) double x[kMax], y[kMax], z[kMax];

  void push(Vec3d point) {
    x[count] = point.x, y[count] = point.y, z[count] = point.z;
    ++count;
  }
};

/// The reprojections of the points of a block into a view.
struct ReprojectedBlock {
  alignas(64) std::int32_t x[PointBlock::kMax], y[PointBlock::kMax];
  alignas(64) double u[PointBlock::kMax], v[PointBlock::kMax];  ///< the position in the image, not rounded
  alignas(64) float found[PointBlock::kMax];
  alignas(64) double predicted[PointBlock::kMax];
  std::uint64_t agree;    ///< bit i: what depths_agree says of point i
  std::uint64_t through;  ///< bit i: the view sees a surface behind point i

  bool agrees(int i) const { return (agree >> i & 1u) != 0; }
  /// Whether the view has a depth at the pixel of point i.
  bool has_depth(int i) const { return !std::isnan(found[i]); }
  bool sees_through(int i) const { return (through >> i & 1u) != 0; }
};

/// Reprojects points into `view`: pixel (-1, -1) with an unknown depth for those that are not visible there.
/// @param view_from_points  from the frame of the points to the camera of `view`
void reproject(const PointBlock& points, const Pose& view_from_points, const DepthView& view,
               const ConsistencyOptions& options, ReprojectedBlock& result);

/// The geometry of two views that `count_agreement` compares. @tparam View  DepthView or DepthSource
template <class View>
AgreementGeometry agreement_geometry(const View& reference, const View& source,
                                     const ConsistencyOptions& options) {
  return {reference.camera, source.camera, source.cam_from_world * inverse(reference.cam_from_world),
          static_cast<double>(options.max_relative_depth),
          min_cosine(options, std::max(reference.normal_noise, source.normal_noise))};
}

/// Adds what one source says of every known depth of `reference`; at most 255 sources can be added. Equals
/// agreement_step.
/// @param[in,out] counts  of the reference's size
void count_agreement(const DepthView& reference, const DepthView& source, const ConsistencyOptions& options,
                     ImageView<Agreement> counts);

/// What `sources` say of every known depth of `reference`. They are asked one after the other, so that only
/// one is in memory.
/// @throws what loading a map throws
Image<Agreement> count_agreement(const DepthSource& reference, const std::vector<DepthSource>& sources,
                                 const ConsistencyOptions& options);

}  // namespace recon
