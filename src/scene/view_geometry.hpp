#pragma once

#include <optional>
#include <vector>

#include "scene/lens.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Where all pairs of views would be too many, each is paired with this many nearest views.
inline constexpr int kMaxNeighbours = 256;

/// A view as the geometry of a scene needs it; world coordinates.
struct ViewGeometry {
  const Lens* lens = nullptr;
  int width = 0, height = 0;
  double focal = 0;  ///< geometric mean of the two, pixels
  Pose cam_from_world;
  Vec3d centre{0, 0, 0};
  Vec3d axis{0, 0, 1};  ///< viewing direction, unit length

  /// Whether a point in world coordinates lies in the image.
  bool sees(Vec3d x) const;
  /// An angle to the axis, radians, that nothing in the image exceeds; nothing where none below 80 degrees is
  /// known.
  std::optional<double> half_angle() const;
  /// Depth of a point in world coordinates.
  double depth(Vec3d x) const { return (cam_from_world * x).z; }
  /// The point at depth 1 on the ray of a camera is `ray`; its place in the world at depth `z`.
  Vec3d point_at(Vec3d ray, double z) const;
  /// Rays of depth 1 in camera coordinates through the middles of an n x n grid of cells of the image.
  std::vector<Vec3d> ray_grid(int n) const;
};

/// All views of a scene; copies would leave the lenses behind, so there are none.
class SceneGeometry {
 public:
  explicit SceneGeometry(const Scene& scene);
  SceneGeometry(const SceneGeometry&) = delete;
  SceneGeometry& operator=(const SceneGeometry&) = delete;

  int size() const { return static_cast<int>(views_.size()); }
  const ViewGeometry& operator[](int view) const { return views_[static_cast<std::size_t>(view)]; }

 private:
  std::vector<Lens> lenses_;
  std::vector<ViewGeometry> views_;
};

/// The angle in degrees under which two centres are seen from `x`, [0, 180].
double triangulation_angle(Vec3d x, Vec3d centre_a, Vec3d centre_b);

/// The depth on the axis of `a` where it comes closest to the axis of `b`; nothing unless they meet: in front
/// of both cameras, at an angle, and closer to each other than a fifth of that depth.
std::optional<double> axis_crossing(const ViewGeometry& a, const ViewGeometry& b);

/// How far from each view the views of the scene look together, as depth on its axis: the median of where it
/// meets the other axes, if these places agree; else the median of all views'; nothing for a scene whose axes
/// meet too seldom, as those of parallel cameras. Of very many views the kMaxNeighbours nearest count.
std::vector<std::optional<double>> viewing_distances(const SceneGeometry& views);

/// The views nearest to `reference` by their centres, itself left out, nearest first, at most `count`.
std::vector<int> nearest_views(const SceneGeometry& views, int reference, int count);

/// The value at `fraction` in [0, 1] of the ordered values; reorders them. They must not be empty.
double quantile(std::vector<double>& values, double fraction);

}  // namespace recon
