#pragma once

#include <cstdint>

#include "core/hd.hpp"
#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/agreement_step.hpp"
#include "fuse/consistency.hpp"
#include "scene/pinhole.hpp"

namespace recon {

/// One point of the cloud.
struct FusedPoint {
  Vec3d position;  ///< world
  Vec3f normal;    ///< world, unit
  Rgb8 colour;
  float confidence;          ///< [0, 1]
  std::uint32_t view_count;  ///< number of views that agree
};

/// Criteria for a depth to become a point.
struct PointCriteria {
  ConsistencyOptions agreement;  ///< criteria for a depth of another view to belong to the same point
  int min_views = 2;             ///< min number of views of a point, including the first; see also agreement
};

/// A point uses the pixels of its surface in other views whose centres lie at most this from its image, in x
/// and in y, in units of the spacing: less where the image of its own view ends, or where something clearly
/// nearer begins to hide the surface from it, so that no gap is left there. The others have a point of their
/// own.
constexpr double kUsedReach = 1.0, kUsedReachAtEdges = 0.5;
constexpr double kClearlyNearer = 3.0;  ///< in units of the max relative difference of depths that agree

/// The reach of the point that starts at pixel (x, y) of a view, pixels.
/// @param z      its depth
/// @param depth  depth(x, y) of the view's map; unknown is NaN
template <class Depth>
RECON_HD double used_reach(int x, int y, const Pinhole& camera, double z, int spacing,
                           double max_relative_depth, const Depth& depth) {
  for (int k = 0; k < 4; ++k) {
    const int step = k % 2 == 0 ? spacing : -spacing;
    const int i = k < 2 ? x + step : x, j = k < 2 ? y : y + step;
    const bool inside = i >= 0 && j >= 0 && i < camera.width && j < camera.height;
    if (!inside || static_cast<double>(depth(i, j)) < (1.0 - kClearlyNearer * max_relative_depth) * z)
      return kUsedReachAtEdges * spacing;
  }
  return kUsedReach * spacing;
}

/// Whether pixel (x, y) lies within the reach of an image at `position`.
RECON_HD bool is_used(Vec2d position, int x, int y, double reach) {
  const Vec2d centre = pixel_centre(x, y);
  const double dx = position.x - centre.x, dy = position.y - centre.y;
  return dx <= reach && -dx <= reach && dy <= reach && -dy <= reach;
}

/// Sums of the observations that agree on a point, added in the order of the neighbours. The rounding of
/// every operation is part of the definition.
class PointSums {
 public:
  /// @param z         depth in the view that observes the point, scene units
  /// @param position  of that depth, world
  /// @param normal    world; unknown is NaN
  RECON_HD void add(double z, Vec3d position, Vec3d normal, Rgb8 colour, float confidence) {
    const double weight = 1.0 / (z * z);
    position_ = position_ + weight * position;
    weight_ += weight;
    if (normal.x == normal.x) normal_ = normal_ + normal;
    colour_ = colour_ + Vec3d{static_cast<double>(colour.r), static_cast<double>(colour.g),
                              static_cast<double>(colour.b)};
    confidence_ += static_cast<double>(confidence);
    ++count_;
  }

  RECON_HD int count() const { return count_; }

  /// Whether the sums become a point.
  /// @param confidence      of the depth that starts the point
  /// @param lone            whether no neighbour has a depth there
  /// @param seeing_through  number of neighbours that see a surface behind the point
  RECON_HD bool suffice(float confidence, bool lone, int seeing_through,
                        const PointCriteria& criteria) const {
    const bool enough =
        count_ >= criteria.min_views || (lone && keeps_lone_depth(confidence, criteria.agreement));
    return enough && seeing_through < count_ && dot(normal_, normal_) > 0;
  }

  RECON_HD FusedPoint finish() const {
    const Vec3d normal = normalized(normal_);
    return {(1.0 / weight_) * position_,
            {static_cast<float>(normal.x), static_cast<float>(normal.y), static_cast<float>(normal.z)},
            {mean_channel(colour_.x), mean_channel(colour_.y), mean_channel(colour_.z)},
            static_cast<float>(confidence_ / count_),
            static_cast<std::uint32_t>(count_)};
  }

 private:
  RECON_HD std::uint8_t mean_channel(double sum) const {
    return static_cast<std::uint8_t>(sum / count_ + 0.5);
  }

  Vec3d position_{0, 0, 0}, normal_{0, 0, 0}, colour_{0, 0, 0};
  double weight_ = 0, confidence_ = 0;
  int count_ = 0;
};

}  // namespace recon
