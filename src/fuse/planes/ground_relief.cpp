#include "fuse/planes/ground_relief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

constexpr int kMaxSide = 256;  ///< cells

/// Sums of the `2 reach + 1` values around each, `step` apart.
void sum_along(float* values, int count, std::ptrdiff_t step, int reach, std::vector<float>& sums) {
  sums.assign(static_cast<std::size_t>(count) + 1, 0);
  for (int i = 0; i < count; ++i) sums[i + 1] = sums[i] + values[i * step];
  for (int i = 0; i < count; ++i)
    values[i * step] = sums[std::min(count, i + reach + 1)] - sums[std::max(0, i - reach)];
}

}  // namespace

PlaceBounds::PlaceBounds(Vec3d up) {
  axes[0] = normalized(cross(up, std::abs(up.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
  axes[1] = cross(up, axes[0]);
  for (int i = 0; i < 2; ++i) {
    min[i] = std::numeric_limits<double>::infinity();
    max[i] = -min[i];
  }
}

void PlaceBounds::add(Vec3d place) {
  for (int i = 0; i < 2; ++i) {
    min[i] = std::min(min[i], dot(axes[i], place));
    max[i] = std::max(max[i], dot(axes[i], place));
  }
}

GroundRelief::GroundRelief(const PlaceBounds& bounds, int levels, double cell)
    : bounds_(bounds), cell_(cell), levels_(levels) {
  if (!(bounds.max[0] >= bounds.min[0])) return;  // no places
  for (int i = 0; i < 2; ++i) cell_ = std::max(cell_, (bounds.max[i] - bounds.min[i]) / (kMaxSide - 1));
  for (int i = 0; i < 2; ++i) size_[i] = static_cast<int>((bounds.max[i] - bounds.min[i]) / cell_) + 1;
  votes_.assign(static_cast<std::size_t>(levels * cells()), 0);
}

Vec2d GroundRelief::in_cells(Vec3d place) const {
  return {(dot(bounds_.axes[0], place) - bounds_.min[0]) / cell_,
          (dot(bounds_.axes[1], place) - bounds_.min[1]) / cell_};
}

void GroundRelief::vote(Vec3d place, int level, float weight) {
  EXPECTS(level >= 0 && level < levels_ && decided_.empty());
  const auto [u, v] = in_cells(place);
  if (u >= 0 && v >= 0 && u < size_[0] && v < size_[1])
    votes_[level * cells() + static_cast<std::ptrdiff_t>(v) * size_[0] + static_cast<int>(u)] += weight;
}

/// Sums each level's votes in the square around each cell.
std::vector<float> GroundRelief::summed(int reach) const {
  std::vector<float> all = votes_;
  parallel_for(levels_, [&](int level) {
    float* const votes = all.data() + level * cells();
    std::vector<float> sums;
    for (int v = 0; v < size_[1]; ++v)
      sum_along(votes + static_cast<std::ptrdiff_t>(v) * size_[0], size_[0], 1, reach, sums);
    for (int u = 0; u < size_[0]; ++u) sum_along(votes + u, size_[1], size_[0], reach, sums);
  });
  return all;
}

/// The level with most votes, between those beside it; NaN if it does not have enough.
float GroundRelief::decided(const std::vector<float>& of_levels, std::ptrdiff_t cell, float min_votes) const {
  constexpr float kMinShare = 0.25f;  // in this level and two on both sides of it: votes by chance are even
  const auto votes = [&](int level) {
    return level >= 0 && level < levels_ ? of_levels[level * cells() + cell] : 0;
  };
  float all = 0, most = 0;
  int best = 0;
  for (int level = 0; level < levels_; ++level) {
    all += votes(level);
    const float near = votes(level - 1) + 2 * votes(level) + votes(level + 1);
    if (near <= most) continue;
    most = near;
    best = level;
  }
  float around = 0, first = 0;  // sums of the votes, and of their distances
  for (int i = -2; i <= 2; ++i) {
    around += votes(best + i);
    first += static_cast<float>(i) * votes(best + i);
  }
  return all >= min_votes && around >= kMinShare * all ? static_cast<float>(best) + first / around : kUnknown;
}

void GroundRelief::decide() {
  constexpr float kEnough = 30, kAtLeast = 4;  // weights
  constexpr int kLargest = 6;
  decided_.assign(static_cast<std::size_t>(cells()), kUnknown);
  for (int reach = 1; reach <= kLargest; ++reach) {
    const std::vector<float> votes = summed(reach);
    parallel_for(
        static_cast<int>(cells()),
        [&](int cell) {
          if (std::isnan(decided_[cell]))
            decided_[cell] = decided(votes, cell, reach < kLargest ? kEnough : kAtLeast);
        },
        1024);
  }
  votes_ = {};
}

std::optional<double> GroundRelief::level(Vec3d place) const {
  EXPECTS(std::ssize(decided_) == cells());
  const auto [u, v] = in_cells(place);
  const double left = std::floor(u - 0.5), top = std::floor(v - 0.5);
  double sum = 0, weight = 0;
  for (int k = 0; k < 4; ++k) {
    const double x = left + k % 2, y = top + k / 2;
    if (!(x >= 0 && y >= 0 && x < size_[0] && y < size_[1])) continue;
    const float decided = decided_[static_cast<std::ptrdiff_t>(y) * size_[0] + static_cast<int>(x)];
    const double near = (1 - std::abs(u - 0.5 - x)) * (1 - std::abs(v - 0.5 - y));
    if (std::isnan(decided)) continue;
    sum += near * static_cast<double>(decided);
    weight += near;
  }
  if (!(weight >= 0.5)) return {};
  return sum / weight;
}

}  // namespace recon
