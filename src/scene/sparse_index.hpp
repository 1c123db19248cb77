#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "scene/scene.hpp"
#include "scene/view_geometry.hpp"

namespace recon {

/// Lists of integers, stored contiguously in one array.
class IndexLists {
 public:
  /// Builds the lists: for each call of `add(list, item)` by `visit(add)`, `item` is in list `list`, in
  /// ascending order, without duplicates. Time linear in the calls, except for sorting within the lists.
  /// @param visit  called twice, to count and to fill
  template <class Visit>
  IndexLists(int lists, const Visit& visit) : begin_(static_cast<std::size_t>(lists) + 1, 0) {
    visit([this](int list, int) { ++begin_[list]; });
    end_counting();
    visit([this](int list, int item) { items_[begin_[list]++] = item; });
    sort_lists();
  }

  int size() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const int> operator[](int list) const {
    return {items_.data() + begin_[list], items_.data() + begin_[static_cast<std::size_t>(list) + 1]};
  }

 private:
  void end_counting();
  void sort_lists();

  std::vector<std::size_t> begin_;
  std::vector<int> items_;
};

/// Which views see each point of a scene, and which points each view sees (indices into Scene). The views of
/// a point with an empty track are taken from the observations: a scene may have only one of the two.
struct Visibility {
  explicit Visibility(const Scene& scene);

  IndexLists views_of_point;
  IndexLists points_of_view;
};

/// The points that each of some views sees, as Visibility has them, in the order of the views.
/// @param views  indices into Scene, each once
IndexLists points_of_views(const Scene& scene, std::span<const int> views);

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

/// What view selection and the estimation of depth ranges look up in a scene.
struct SceneIndex {
  /// @param of  must outlive this; converts where only one of the two is called
  SceneIndex(const Scene& of);  // NOLINT(google-explicit-constructor)

  const Scene& scene;
  const SceneGeometry views;
  const Visibility visibility;
  const PointBlocks blocks;
  const std::vector<std::optional<double>> distances;  ///< see viewing_distances
};

}  // namespace recon
