#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// Lists of integers, stored contiguously in one array.
class IndexLists {
 public:
  /// Builds the lists: for each call of `add(list, item)` by `visit(add)`, `item` is in list `list`, in
  /// ascending order, without duplicates. Time linear in the calls, except for sorting within the lists.
  /// @param visit  called twice, to count and to fill
  template <class Visit>
  IndexLists(int lists, const Visit& visit) : begin_(static_cast<std::size_t>(lists) + 1, 0) {
    visit([this](int list, int) { ++begin_[static_cast<std::size_t>(list)]; });
    end_counting();
    visit([this](int list, int item) { items_[begin_[static_cast<std::size_t>(list)]++] = item; });
    sort_lists();
  }

  int size() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const int> operator[](int list) const {
    return {items_.data() + begin_[static_cast<std::size_t>(list)],
            items_.data() + begin_[static_cast<std::size_t>(list) + 1]};
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

}  // namespace recon
