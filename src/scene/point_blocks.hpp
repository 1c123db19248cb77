#pragma once

#include <mutex>
#include <vector>

#include "scene/scene.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

/// Finds the sparse points of a scene that may be in a view without testing each one: a hierarchy of bounding
/// spheres, in which blocks of points outside the view are skipped.
class PointBlocks {
 public:
  /// @param scene  must outlive this
  explicit PointBlocks(const Scene& scene) : scene_(scene) {}

  /// Indices of points, ascending: all that lie in the image of `view`, and few others. Thread-safe; the
  /// first call takes O(n log n) for n points.
  std::vector<int> near_image(const ViewGeometry& view) const;

 private:
  /// The points order_[begin] .. order_[end - 1] and their bounding sphere. A block precedes its two halves;
  /// `next` is the first block after its subtree.
  struct Block {
    Vec3d centre;
    double radius;
    int begin, end, next;
  };

  void build() const;
  void divide(int begin, int end) const;

  const Scene& scene_;
  mutable std::once_flag built_;
  mutable std::vector<int> order_;
  mutable std::vector<Block> blocks_;
};

}  // namespace recon
