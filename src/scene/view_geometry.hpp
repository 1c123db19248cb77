#pragma once

#include <optional>
#include <vector>

#include "scene/camera.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Each view is paired with at most this many nearest views.
inline constexpr int kMaxNeighbours = 256;

/// The geometry of a view in world coordinates.
struct ViewGeometry {
  const Lens* lens = nullptr;
  int width = 0, height = 0;
  double focal = 0;  ///< geometric mean of fx and fy, pixels
  Pose cam_from_world;
  Vec3d centre{0, 0, 0};
  Vec3d axis{0, 0, 1};  ///< viewing direction, unit length
  int photo = 0;        ///< the same for the faces of one photo, between which there is no baseline
  bool aimed = true;    ///< its axis is that of a lens, which somebody aimed; else it is a side of a cube

  /// Whether a point in world coordinates lies in the image.
  bool sees(Vec3d x) const;
  /// Upper bound of the angle to the axis in the image, radians; empty if none below 80 degrees is known.
  std::optional<double> half_angle() const;
  /// Depth of a point in world coordinates.
  double depth(Vec3d x) const { return (cam_from_world * x).z; }
  /// The world point at depth `z` on the ray through `ray`, a point at depth 1 in camera coordinates.
  Vec3d point_at(Vec3d ray, double z) const;
  /// Rays of depth 1 in camera coordinates through the centres of an n x n grid of cells of the image.
  std::vector<Vec3d> ray_grid(int n) const;
};

/// All views of a scene. Not copyable, since views point to their lenses.
class SceneGeometry {
 public:
  explicit SceneGeometry(const Scene& scene);
  SceneGeometry(const SceneGeometry&) = delete;
  SceneGeometry& operator=(const SceneGeometry&) = delete;

  int size() const { return static_cast<int>(views_.size()); }
  const ViewGeometry& operator[](int view) const { return views_[view]; }

 private:
  std::vector<Lens> lenses_;
  std::vector<ViewGeometry> views_;
};

/// The angle between the rays from `x` to two centres, degrees, [0, 180].
double triangulation_angle(Vec3d x, Vec3d centre_a, Vec3d centre_b);

/// Where two lines are nearest to each other: distances along them.
struct NearestOnLines {
  double on_a, on_b;
};

/// @param between  from the origin of line a to that of line b
/// @param a,b      directions of unit length
/// @param sine2    squared sine of the angle between them; infinite distances or NaN where it is 0
inline NearestOnLines nearest_on_lines(Vec3d between, Vec3d a, Vec3d b, double sine2) {
  const double cosine = dot(a, b);
  return {(dot(between, a) - cosine * dot(between, b)) / sine2,
          (cosine * dot(between, a) - dot(between, b)) / sine2};
}

/// The depth on the axis of `a` where it is closest to the axis of `b`; empty unless the axes cross: in front
/// of both cameras, not nearly parallel, and within a fifth of that depth of each other.
std::optional<double> axis_crossing(const ViewGeometry& a, const ViewGeometry& b);

/// The viewing distance of each view, as depth on its axis: the median of the crossings with the other axes,
/// if these agree; otherwise the median over all views; empty for a scene with too few crossings, as with
/// parallel cameras. Where the axes of cubes cross says nothing: views that are not aimed have the median.
/// At most the kMaxNeighbours nearest views are used.
std::vector<std::optional<double>> viewing_distances(const SceneGeometry& views);

/// The views nearest to `reference` by their centres, without those of the same photo, nearest first, at most
/// `count`.
std::vector<int> nearest_views(const SceneGeometry& views, int reference, int count);

}  // namespace recon
