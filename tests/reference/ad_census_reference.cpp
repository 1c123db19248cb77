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

/// The four cases of the paper; if the matching pixels of a step are not both in the second view, only the
/// first view is used.
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

LabelledMap find_outliers(ImageView<const float> left, ImageView<const float> right, float tolerance) {
  LabelledMap map(left.width, left.height);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x) {
      const float disparity = left(x, y);
      Label label = Label::kOutlier;
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

bool contradicted(ImageView<const float> right, float disparity, int x, int y) {
  const int matched = x - static_cast<int>(std::floor(disparity + 0.5f));
  return right.contains(matched, y) && right(matched, y) < disparity - 1;
}

void vote(LabelledMap& map, const std::vector<Cross>& crosses, int min, int count, int min_votes,
          float min_share, int iterations, ImageView<const float> right) {
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
        if (votes <= min_votes || static_cast<float>(*most) <= min_share * static_cast<float>(votes))
          continue;
        const float decided = static_cast<float>(min + (most - histogram.begin()));
        if (contradicted(right, decided, x, y)) continue;
        map.disparity[map.index(x, y)] = decided;
        map.label[map.index(x, y)] = Label::kReliable;
      }
  }
}

void interpolate(LabelledMap& map, ImageView<const Rgb8> image, ImageView<const float> right) {
  const LabelledMap before = map;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const std::size_t here = map.index(x, y);
      if (before.label[here] == Label::kReliable) continue;
      int min_distance = 1000;
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
          int distance = colour_distance(image(x, y), image(i, j));
          if (contradicted(right, disparity, x, y)) distance = 999;
          if (!found || distance < min_distance ||
              (distance == min_distance && disparity < map.disparity[here])) {
            map.disparity[here] = disparity;
            min_distance = distance;
          }
          found = true;
        }
    }
}

/// Surface indices of all reliable pixels, -1 elsewhere; within columns and rows of a window. Pixels adopt
/// the index of a neighbour until nothing changes.
std::vector<int> surfaces(const LabelledMap& map, int x0, int x1, int y0, int y1) {
  std::vector<int> number(map.disparity.size(), -1);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x)
      if (reliable(map, x, y)) number[map.index(x, y)] = static_cast<int>(map.index(x, y));
  for (bool changed = true; changed;) {
    changed = false;
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        int& own = number[map.index(x, y)];
        const int sides[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        for (const auto& side : sides) {
          if (own < 0 || side[0] < x0 || side[0] > x1 || side[1] < y0 || side[1] > y1) continue;
          const std::size_t beside = map.index(side[0], side[1]);
          if (number[beside] < 0 || number[beside] >= own) continue;
          if (std::abs(map.disparity[beside] - map.disparity[map.index(x, y)]) > 1) continue;
          own = number[beside];
          changed = true;
        }
      }
  }
  return number;
}

void invalidate_small_segments(LabelledMap& map, int least) {
  const std::vector<int> number = surfaces(map, 0, map.width - 1, 0, map.height - 1);
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (map.label[i] != Label::kReliable) continue;
    const bool small = number[i] < 0 || std::count(number.begin(), number.end(), number[i]) < least;
    if (small) map.label[i] = Label::kOutlier;
  }
}

/// The least-squares plane d = a + b u + c v, u and v relative to (x, y), by Cramer's rule on the normal
/// equations; the disparity of (x, y) if there are too few pixels.
double plane_at(const LabelledMap& map, const std::vector<int>& number, int x, int y, int least, double u) {
  double m[3][4] = {};
  for (int j = 0; j < map.height; ++j)
    for (int i = 0; i < map.width; ++i) {
      if (number[map.index(i, j)] < 0 || number[map.index(i, j)] != number[map.index(x, y)]) continue;
      const double row[4] = {1, static_cast<double>(i - x), static_cast<double>(j - y),
                             static_cast<double>(map.disparity[map.index(i, j)])};
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) m[r][c] += row[r] * row[c];
    }
  const auto determinant = [&](int replaced) {
    const auto at = [&](int r, int c) { return m[r][c == replaced ? 3 : c]; };
    return at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
           at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
           at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  };
  const double n = m[0][0], whole = determinant(-1);
  if (n < least || whole / n <= 1e-3 * n * n) return map.disparity[map.index(x, y)];
  return (determinant(0) + u * determinant(1)) / whole;
}

void extend_surfaces(LabelledMap& map, int min, int count, int reach, int min_fit) {
  const LabelledMap before = map;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      int q = x;
      while (q < map.width && !reliable(before, q, y)) ++q;
      if (q == map.width || q == x) continue;
      if (static_cast<float>(x) >= before.disparity[map.index(q, y)]) continue;
      const std::vector<int> number =
          surfaces(before, std::max(q - reach, 0), std::min(q + reach, map.width - 1), std::max(y - reach, 0),
                   std::min(y + reach, map.height - 1));
      const double carried = plane_at(before, number, q, y, min_fit, x - q);
      map.disparity[map.index(x, y)] = static_cast<float>(std::clamp<double>(carried, min, min + count - 1));
      map.label[map.index(x, y)] = Label::kReliable;
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
            offset = std::floor(std::clamp((before - after) / (2 * bend), -0.5f, 0.5f) * 16 + 0.5f) / 16;
        }
      }
      enhanced.push_back(value + offset);
    }
  return enhanced;
}

}  // namespace recon::reference
