#include "refine/push_pull.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace recon {

namespace {

/// Means of the known pixels of each cell, and the share of it that is known, 0 to 1.
struct Level {
  Level(int width, int height) : mean(width, height, 0.0F), known(width, height, 0.0F) {}
  Image<float> mean, known;
};

Level first_level(ImageView<const float> map) {
  Level level(map.width, map.height);
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if (!std::isnan(map(x, y))) {
        level.mean(x, y) = map(x, y);
        level.known(x, y) = 1;
      }
  return level;
}

/// A cell with as much known as one pixel of it counts as known: fine levels are the surer ones.
Level coarser(const Level& fine) {
  const int width = fine.mean.width(), height = fine.mean.height();
  Level level((width + 1) / 2, (height + 1) / 2);
  for (int y = 0; y < level.mean.height(); ++y)
    for (int x = 0; x < level.mean.width(); ++x) {
      float sum = 0, weight = 0;
      for (int v = 2 * y; v < std::min(2 * y + 2, height); ++v)
        for (int u = 2 * x; u < std::min(2 * x + 2, width); ++u) {
          sum += fine.known(u, v) * fine.mean(u, v);
          weight += fine.known(u, v);
        }
      if (weight > 0) level.mean(x, y) = sum / weight;
      level.known(x, y) = std::min(weight, 1.0F);
    }
  return level;
}

/// Between the centres of the cells of half the resolution.
float interpolated(ImageView<const float> coarse, int x, int y) {
  const auto axis = [](int at, int size) {
    const float place = static_cast<float>(at) / 2 - 0.25F;
    const int first = static_cast<int>(std::floor(place));
    struct {
      int near, far;
      float share;
    } cells{std::clamp(first, 0, size - 1), std::clamp(first + 1, 0, size - 1),
            place - static_cast<float>(first)};
    return cells;
  };
  const auto across = axis(x, coarse.width), down = axis(y, coarse.height);
  const auto row = [&](int v) {
    return (1 - across.share) * coarse(across.near, v) + across.share * coarse(across.far, v);
  };
  return (1 - down.share) * row(down.near) + down.share * row(down.far);
}

/// What a cell lacks comes from the coarser level, all of whose cells have a mean.
void complete(Level& fine, ImageView<const float> coarse) {
  for (int y = 0; y < fine.mean.height(); ++y)
    for (int x = 0; x < fine.mean.width(); ++x)
      if (const float known = fine.known(x, y); known < 1)
        fine.mean(x, y) = known * fine.mean(x, y) + (1 - known) * interpolated(coarse, x, y);
}

}  // namespace

void push_pull(ImageView<float> map) {
  if (map.width == 0 || map.height == 0) return;
  std::vector<Level> levels;
  levels.push_back(first_level(map));
  while (levels.back().mean.width() > 1 || levels.back().mean.height() > 1)
    levels.push_back(coarser(levels.back()));
  if (levels.back().known(0, 0) == 0) return;
  for (std::size_t i = levels.size() - 1; i > 0; --i) complete(levels[i - 1], levels[i].mean.view());
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if (std::isnan(map(x, y))) map(x, y) = levels.front().mean(x, y);
}

}  // namespace recon
