#include "scene/point_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace recon {
namespace {

constexpr int kLeast = 16;  ///< blocks of at most this many points are not divided

std::array<double, 3> axes_of(Vec3d v) {
  return {v.x, v.y, v.z};
}

}  // namespace

void PointBlocks::build() const {
  order_.resize(scene_.points.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (!order_.empty()) divide(0, static_cast<int>(order_.size()));
}

void PointBlocks::divide(int begin, int end) const {
  const auto position = [&](int point) { return scene_.points[static_cast<std::size_t>(point)].position; };
  Vec3d low = position(order_[static_cast<std::size_t>(begin)]), high = low;
  for (int i = begin; i < end; ++i) {
    const Vec3d x = position(order_[static_cast<std::size_t>(i)]);
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  const std::size_t block = blocks_.size();
  const Vec3d size = high - low;
  blocks_.push_back({low + 0.5 * size, 0.5 * norm(size), begin, end, 0});
  if (end - begin > kLeast) {
    const std::array<double, 3> sides = axes_of(size);
    const auto axis = static_cast<std::size_t>(std::max_element(sides.begin(), sides.end()) - sides.begin());
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](int a, int b) { return axes_of(position(a))[axis] < axes_of(position(b))[axis]; });
    divide(begin, middle);
    divide(middle, end);
  }
  blocks_[block].next = static_cast<int>(blocks_.size());
}

std::vector<int> PointBlocks::near_image(const ViewGeometry& view) const {
  const std::optional<double> cone = view.half_angle();
  std::vector<int> points;
  if (!cone) {
    points.resize(scene_.points.size());
    std::iota(points.begin(), points.end(), 0);
    return points;
  }
  std::call_once(built_, [this] { build(); });
  const double sine = std::sin(*cone), cosine = std::cos(*cone);
  for (std::size_t i = 0; i < blocks_.size();) {
    const Block& block = blocks_[i];
    const Vec3d x = view.cam_from_world * block.centre;
    // If positive, a lower bound of the distance of the centre from the viewing cone.
    const double outside = std::hypot(x.x, x.y) * cosine - x.z * sine;
    const auto next = static_cast<std::size_t>(block.next);
    if (outside > block.radius * (1 + 1e-9)) {
      i = next;
      continue;
    }
    if (next == i + 1) points.insert(points.end(), order_.begin() + block.begin, order_.begin() + block.end);
    ++i;
  }
  std::sort(points.begin(), points.end());
  return points;
}

}  // namespace recon
