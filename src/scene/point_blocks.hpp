#pragma once

#include <mutex>
#include <vector>

#include "scene/scene.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

/// Finds the sparse points of a scene that a view may show, without asking each point: they are halved into
/// ever smaller blocks, and a block outside the view is passed over as a whole.
class PointBlocks {
 public:
  /// @param scene  must outlive this
  explicit PointBlocks(const Scene& scene) : scene_(scene) {}

  /// Indices of points, rising: all that lie in the image of `view`, and few others. Safe from several
  /// threads; the first call takes O(n log n) for n points.
  std::vector<int> near_image(const ViewGeometry& view) const;

 private:
  /// The points order_[begin] .. order_[end - 1] and a ball that holds them. Blocks stand before their
  /// halves; `next` is the first behind all of them.
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
