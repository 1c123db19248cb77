#pragma once

#include <vector>

#include "core/vec.hpp"
#include "render/scene_description.hpp"

namespace recon {

/// The views of a description as a tree of neighbours in their order: those that may see a place are found
/// without testing every view.
class ViewTree {
 public:
  explicit ViewTree(const SceneDescription& description);

  /// Calls visit(view), in rising order, for the views in whose cones `place` lies: at least for all that
  /// have an image of it.
  template <class Visit>
  void visit(Vec3d place, const Visit& visit) const {
    if (!nodes_.empty()) descend(0, 0, views_, place, visit);
  }

 private:
  /// The camera centres of views lie in a sphere, the directions that they see in a cone.
  struct Cone {
    Vec3d centre{};
    double radius = 0;
    Vec3d axis{};
    double half_angle = 0;  ///< radians
    bool holds(Vec3d place) const;
  };
  /// The children of node i are 2 i + 1 and 2 i + 2.
  void build(int node, int begin, int end, const std::vector<Cone>& views);
  static Cone around(const Cone& a, const Cone& b);

  template <class Visit>
  void descend(int node, int begin, int end, Vec3d place, const Visit& visit) const {
    if (!nodes_[node].holds(place)) return;
    if (end - begin == 1) return visit(begin);
    const int middle = begin + (end - begin) / 2;
    descend(2 * node + 1, begin, middle, place, visit);
    descend(2 * node + 2, middle, end, place, visit);
  }

  int views_ = 0;
  std::vector<Cone> nodes_;
};

}  // namespace recon
