#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// Lists of integers, one after the other in one array.
class IndexLists {
 public:
  /// The lists that hold, for each (list, item) pair, `item` in list `list`: rising, each item once.
  IndexLists(int lists, std::vector<std::pair<int, int>> pairs);

  int size() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const int> operator[](int list) const {
    return {items_.data() + begin_[static_cast<std::size_t>(list)],
            items_.data() + begin_[static_cast<std::size_t>(list) + 1]};
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<int> items_;
};

/// Which views see each point of a scene, and which points each view sees (indices into Scene). A point whose
/// track is empty is looked for in the observations of the views: either may be all that a scene has.
struct Visibility {
  explicit Visibility(const Scene& scene);

  IndexLists views_of_point;
  IndexLists points_of_view;
};

}  // namespace recon
