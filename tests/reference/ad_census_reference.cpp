#include "reference/ad_census_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace recon::reference {
namespace {

constexpr float kNone = std::numeric_limits<float>::infinity();

struct Penalties {
  float p1, p2;
};

/// The four cases of the paper; a step whose matching pixels are not both in the second view is judged by
/// the first view alone.
Penalties penalties(const ScanlineViews& views, const ScanlineNumbers& numbers, int x, int y, int px, int py,
                    int d) {
  const bool first = colour_distance(views.reference(x, y), views.reference(px, py)) >= numbers.threshold;
  bool second = first;
  const int move = views.offset + views.step * d;
  if (!views.matched.empty() && views.matched.contains(x + move, y) && views.matched.contains(px + move, py))
    second = colour_distance(views.matched(x + move, y), views.matched(px + move, py)) >= numbers.threshold;
  const float divisor = first && second ? 10.0f : (first || second ? 4.0f : 1.0f);
  return {numbers.p1 / divisor, numbers.p2 / divisor};
}

bool reliable(const LabelledMap& map, int x, int y) {
  return x >= 0 && x < map.width && y >= 0 && y < map.height &&
         map.label[map.index(x, y)] == Label::kReliable && !std::isnan(map.disparity[map.index(x, y)]);
}

float cost_of(const FloatVolume& costs, int x, int y, float disparity, int min) {
  const int d = static_cast<int>(disparity) - min;
  return d >= 0 && d < costs.planes ? costs(x, y, d) : kNone;
}

}  // namespace

int colour_distance(Rgb8 a, Rgb8 b) {
  return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
}

FloatVolume scanline_path(const FloatVolume& costs, const ScanlineViews& views,
                          const ScanlineNumbers& numbers, int dx, int dy) {
  FloatVolume paths(costs.width, costs.height, costs.planes);
  for (int row = 0; row < costs.height; ++row)
    for (int column = 0; column < costs.width; ++column) {
      const int x = dx < 0 ? costs.width - 1 - column : column, y = dy < 0 ? costs.height - 1 - row : row;
      const int px = x - dx, py = y - dy;
      const bool first = px < 0 || px >= costs.width || py < 0 || py >= costs.height;
      float least = kNone;
      for (int k = 0; k < costs.planes && !first; ++k) least = std::min(least, paths(px, py, k));
      for (int d = 0; d < costs.planes; ++d) {
        paths(x, y, d) = costs(x, y, d);
        if (least == kNone) continue;
        const Penalties p = penalties(views, numbers, x, y, px, py, d);
        float best = std::min(paths(px, py, d), least + p.p2);
        if (d > 0) best = std::min(best, paths(px, py, d - 1) + p.p1);
        if (d + 1 < costs.planes) best = std::min(best, paths(px, py, d + 1) + p.p1);
        paths(x, y, d) = costs(x, y, d) + (best - least);
      }
    }
  return paths;
}

FloatVolume scanline_costs(const FloatVolume& costs, const ScanlineViews& views,
                           const ScanlineNumbers& numbers) {
  FloatVolume mean = scanline_path(costs, views, numbers, 1, 0);
  for (const auto& [dx, dy] : {std::pair{-1, 0}, std::pair{0, 1}, std::pair{0, -1}}) {
    const FloatVolume path = scanline_path(costs, views, numbers, dx, dy);
    for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += path.values[i];
  }
  for (float& value : mean.values) value /= 4;
  return mean;
}

LabelledMap find_outliers(ImageView<const float> left, ImageView<const float> right, int min, int count,
                          float tolerance) {
  LabelledMap map(left.width, left.height);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x) {
      const float disparity = left(x, y);
      Label label = Label::kOcclusion;
      for (int d = min; d < min + count; ++d)
        if (right.contains(x - d, y) && std::abs(right(x - d, y) - static_cast<float>(d)) <= tolerance)
          label = Label::kMismatch;
      if (!std::isnan(disparity)) {
        const int matched = x - static_cast<int>(std::floor(disparity + 0.5f));
        if (right.contains(matched, y) && std::abs(right(matched, y) - disparity) <= tolerance)
          label = Label::kReliable;
      }
      map.disparity[map.index(x, y)] = disparity;
      map.label[map.index(x, y)] = label;
    }
  return map;
}

void vote(LabelledMap& map, const std::vector<Cross>& crosses, int min, int count, int least_votes,
          float least_share, int iterations) {
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const LabelledMap before = map;
    for (int y = 0; y < map.height; ++y)
      for (int x = 0; x < map.width; ++x) {
        if (before.label[map.index(x, y)] == Label::kReliable) continue;
        std::vector<int> histogram(static_cast<std::size_t>(count));
        int votes = 0;
        const Cross& own = crosses[map.index(x, y)];
        for (int j = y - own.up; j <= y + own.down; ++j) {
          const Cross& beside = crosses[map.index(x, j)];
          for (int i = x - beside.left; i <= x + beside.right; ++i) {
            if (!reliable(before, i, j)) continue;
            const int bin = static_cast<int>(std::floor(before.disparity[map.index(i, j)] + 0.5f)) - min;
            if (bin < 0 || bin >= count) continue;
            ++histogram[static_cast<std::size_t>(bin)];
            ++votes;
          }
        }
        const auto most = std::max_element(histogram.begin(), histogram.end());
        if (votes <= least_votes || static_cast<float>(*most) <= least_share * static_cast<float>(votes))
          continue;
        map.disparity[map.index(x, y)] = static_cast<float>(min + (most - histogram.begin()));
        map.label[map.index(x, y)] = Label::kReliable;
      }
  }
}

void interpolate(LabelledMap& map, ImageView<const Rgb8> image) {
  const LabelledMap before = map;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const std::size_t here = map.index(x, y);
      if (before.label[here] == Label::kReliable) continue;
      int least_distance = 256;
      bool found = false;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          const bool straight = std::abs(dx) + std::abs(dy) == 1;
          const bool diagonal = std::abs(dx) == 1 && std::abs(dy) == 1;
          const bool between = std::abs(dx * dy) == 2;
          if (!straight && !diagonal && !between) continue;
          int i = x + dx, j = y + dy;
          while (image.contains(i, j) && !reliable(before, i, j)) i += dx, j += dy;
          if (!image.contains(i, j)) continue;
          const float disparity = before.disparity[map.index(i, j)];
          const int distance =
              before.label[here] == Label::kOcclusion ? 0 : colour_distance(image(x, y), image(i, j));
          if (!found || distance < least_distance ||
              (distance == least_distance && disparity < map.disparity[here])) {
            map.disparity[here] = disparity;
            least_distance = distance;
          }
          found = true;
        }
    }
}

std::vector<float> adjust_discontinuities(ImageView<const float> disparity, const FloatVolume& costs,
                                          int min) {
  std::vector<float> adjusted;
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      float best = disparity(x, y);
      float least = std::isnan(best) ? kNone : cost_of(costs, x, y, best, min);
      const int sides[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
      for (const auto& side : sides) {
        if (std::isnan(disparity(x, y)) || !disparity.contains(side[0], side[1])) continue;
        const float other = disparity(side[0], side[1]);
        if (std::isnan(other) || std::abs(other - disparity(x, y)) <= 1) continue;
        const float cost = cost_of(costs, x, y, other, min);
        if (cost < least) best = other, least = cost;
      }
      adjusted.push_back(best);
    }
  return adjusted;
}

std::vector<float> enhance(ImageView<const float> disparity, const FloatVolume& costs, int min) {
  std::vector<float> enhanced;
  for (int y = 0; y < disparity.height; ++y)
    for (int x = 0; x < disparity.width; ++x) {
      const float value = disparity(x, y);
      float offset = 0;
      if (!std::isnan(value)) {
        const int d = static_cast<int>(value) - min;
        if (d > 0 && d + 1 < costs.planes) {
          const float before = costs(x, y, d - 1), at = costs(x, y, d), after = costs(x, y, d + 1);
          const float bend = (before - at) + (after - at);
          if (before < kNone && after < kNone && bend > 0)
            offset = std::clamp((before - after) / (2 * bend), -0.5f, 0.5f);
        }
      }
      enhanced.push_back(value + offset);
    }
  return enhanced;
}

}  // namespace recon::reference
