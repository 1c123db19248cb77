#include "reference/semi_global_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "refine/depth_filters.hpp"

namespace recon::reference {
namespace {

int grey_at(ImageView<const std::uint16_t> image, int x, int y) {
  return image(std::clamp(x, 0, image.width - 1), std::clamp(y, 0, image.height - 1));
}

std::uint64_t plain_census(ImageView<const std::uint16_t> image, int x, int y, int rx, int ry) {
  std::uint64_t bits = 0;
  for (int j = y - ry; j <= y + ry; ++j)
    for (int i = x - rx; i <= x + rx; ++i) {
      if (i == x && j == y) continue;
      bits = bits * 2 + (grey_at(image, i, j) < grey_at(image, x, y));
    }
  return bits;
}

/// Nine times the mean of the pixels around (x, y), which may lie outside the image.
int mean_of_nine(ImageView<const std::uint16_t> image, int x, int y) {
  int sum = 0;
  for (int j = y - 1; j <= y + 1; ++j)
    for (int i = x - 1; i <= x + 1; ++i) sum += grey_at(image, i, j);
  return sum;
}

std::uint64_t census_of_means(ImageView<const std::uint16_t> image, int x, int y) {
  std::uint64_t bits = 0;
  for (int j = y - 6; j <= y + 6; j += 3)
    for (int i = x - 6; i <= x + 6; i += 3)
      if (i != x || j != y) bits = bits * 2 + (mean_of_nine(image, i, j) < mean_of_nine(image, x, y));
  return bits;
}

int hamming(std::uint64_t a, std::uint64_t b) {
  int different = 0;
  for (int bit = 0; bit < 64; ++bit) different += ((a >> bit) & 1) != ((b >> bit) & 1);
  return different;
}

Image<std::uint16_t> widest(ImageView<const std::uint8_t> grey, ImageView<const std::uint16_t> grey16) {
  Image<std::uint16_t> image(grey.width, grey.height);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) image(x, y) = grey16.empty() ? grey(x, y) : grey16(x, y);
  return image;
}

int large_step_penalty(const SemiGlobalOptions& options, int a, int b) {
  if (options.p2_falloff == 0) return options.p2;
  const int scaled = options.p2 * options.p2_falloff / (options.p2_falloff + std::abs(a - b));
  return std::max(scaled, std::min(options.p1 + 1, options.p2));
}

/// Disparity of a pixel before the median.
float disparity_at(const IntVolume& sums, const PairProblem& problem, int x, int y) {
  const MethodSpec& options = problem.options;
  const int min = problem.options.range.min;
  const IntWinner winner = winner_of(sums, x, y);
  if (options.uniqueness > 0 && winner.second >= 0 &&
      winner.second * (100 - options.uniqueness) < winner.cost * 100)
    return kUnknown;
  if (options.refine.left_right) {
    const int matched = x - min - winner.plane;
    if (matched < 0 || matched >= sums.width) return kUnknown;
    const int back = right_winner_of(sums, min, matched, y);
    if (static_cast<float>(std::abs(back - winner.plane)) > options.left_right) return kUnknown;
  }
  float offset = 0;
  if (options.refine.subpixel && winner.before >= 0 && winner.after >= 0) {
    const int curvature = winner.before - 2 * winner.cost + winner.after;
    if (curvature > 0)
      offset = 0.5f * static_cast<float>(winner.before - winner.after) / static_cast<float>(curvature);
  }
  return static_cast<float>(min + winner.plane) + offset;
}

Image<float> median_of_known(const Image<float>& map) {
  Image<float> result(map.width(), map.height());
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      std::vector<float> known;
      for (int j = y - 1; j <= y + 1; ++j)
        for (int i = x - 1; i <= x + 1; ++i)
          if (map.view().contains(i, j) && !std::isnan(map(i, j))) known.push_back(map(i, j));
      std::sort(known.begin(), known.end());
      result(x, y) = std::isnan(map(x, y)) ? kUnknown : known[(known.size() - 1) / 2];
    }
  return result;
}

}  // namespace

std::uint64_t transform_at(ImageView<const std::uint16_t> image, const TransformOptions& options, int x,
                           int y) {
  if (options.transform == Transform::kCensus5x5) return plain_census(image, x, y, 2, 2);
  if (options.transform == Transform::kCensus9x7) return plain_census(image, x, y, 4, 3);
  if (options.transform == Transform::kScaledCensus)
    return plain_census(image, x, y, 2, 2) << 24 | census_of_means(image, x, y);
  std::uint64_t result = 0;
  if (options.transform == Transform::kRank) {
    const int radius = options.rank_window / 2;
    for (int j = y - radius; j <= y + radius; ++j)
      for (int i = x - radius; i <= x + radius; ++i) result += grey_at(image, i, j) < grey_at(image, x, y);
    return result;
  }
  for (int j = -3; j <= 0; ++j)
    for (int i = -4; i <= 4 && (j < 0 || i < 0); ++i)
      result = result * 2 + (grey_at(image, x + i, y + j) < grey_at(image, x - i, y - j));
  return result;
}

bool is_weak_at(ImageView<const std::uint16_t> image, int x, int y) {
  int darkest = 255, brightest = 0, darkest_mean = 9 * 255, brightest_mean = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) {
      const int grey = grey_at(image, x + i, y + j), mean = mean_of_nine(image, x + 3 * i, y + 3 * j);
      darkest = std::min(darkest, grey), brightest = std::max(brightest, grey);
      darkest_mean = std::min(darkest_mean, mean), brightest_mean = std::max(brightest_mean, mean);
    }
  return brightest - darkest < 8 && brightest_mean - darkest_mean <= 9 * 16;
}

IntVolume transform_costs(const PairProblem& problem) {
  const GreyPair& images = problem.images;
  const MethodSpec& options = problem.options;
  const int width = images.left.width, height = images.left.height;
  const Image<std::uint16_t> left = widest(images.left, images.left16);
  const Image<std::uint16_t> right = widest(images.right, images.right16);
  const Image<std::uint16_t> left8 = widest(images.left, {});
  Image<std::uint64_t> left_transform(width, height), right_transform(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      left_transform(x, y) = transform_at(left.view(), options.cost.transform, x, y);
      right_transform(x, y) = transform_at(right.view(), options.cost.transform, x, y);
    }
  IntVolume costs(width, height, problem.options.range.count);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int d = 0; d < costs.planes; ++d) {
        const int matched = x - problem.options.range.min - d;
        if (matched < 0 || matched >= width) {
          costs(x, y, d) = options.cost.outside_cost;
        } else if (options.cost.transform.transform == Transform::kRank) {
          costs(x, y, d) = std::abs(static_cast<int>(left_transform(x, y)) -
                                    static_cast<int>(right_transform(matched, y)));
        } else if (options.cost.transform.transform == Transform::kScaledCensus) {
          const std::uint64_t a = left_transform(x, y), b = right_transform(matched, y);
          costs(x, y, d) = is_weak_at(left8.view(), x, y) ? hamming(a & 0xFFFFFF, b & 0xFFFFFF)
                                                          : hamming(a >> 24, b >> 24);
        } else {
          costs(x, y, d) = hamming(left_transform(x, y), right_transform(matched, y));
        }
      }
  return costs;
}

IntVolume path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                     const SemiGlobalOptions& options, int dx, int dy) {
  IntVolume paths(costs.width, costs.height, costs.planes);
  for (int row = 0; row < costs.height; ++row)
    for (int column = 0; column < costs.width; ++column) {
      const int x = dx < 0 ? costs.width - 1 - column : column, y = dy < 0 ? costs.height - 1 - row : row;
      const int px = x - dx, py = y - dy;
      const bool first = px < 0 || px >= costs.width || py < 0 || py >= costs.height;
      int least = std::numeric_limits<int>::max();
      for (int d = 0; d < costs.planes && !first; ++d) least = std::min(least, paths(px, py, d));
      const int p2 = first ? 0 : large_step_penalty(options, guide(x, y), guide(px, py));
      for (int d = 0; d < costs.planes; ++d) {
        paths(x, y, d) = costs(x, y, d);
        if (first) continue;
        int best = std::min(paths(px, py, d), least + p2);
        if (d > 0) best = std::min(best, paths(px, py, d - 1) + options.p1);
        if (d + 1 < costs.planes) best = std::min(best, paths(px, py, d + 1) + options.p1);
        paths(x, y, d) += best - least;
      }
    }
  return paths;
}

IntVolume summed_path_costs(const IntVolume& costs, ImageView<const std::uint8_t> guide,
                            const SemiGlobalOptions& options) {
  IntVolume sums(costs.width, costs.height, costs.planes);
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if ((dx == 0 && dy == 0) || (options.paths == 4 && dx != 0 && dy != 0)) continue;
      const IntVolume paths = path_costs(costs, guide, options, dx, dy);
      for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += paths.values[i];
    }
  return sums;
}

IntWinner winner_of(const IntVolume& sums, int x, int y) {
  int best = 0;
  for (int d = 1; d < sums.planes; ++d)
    if (sums(x, y, d) < sums(x, y, best)) best = d;
  IntWinner winner{best, sums(x, y, best), -1, -1, -1};
  if (best > 0) winner.before = sums(x, y, best - 1);
  if (best + 1 < sums.planes) winner.after = sums(x, y, best + 1);
  for (int d = 0; d < sums.planes; ++d)
    if (std::abs(d - best) > 1 && (winner.second < 0 || sums(x, y, d) < winner.second))
      winner.second = sums(x, y, d);
  return winner;
}

int right_winner_of(const IntVolume& sums, int min_disparity, int x, int y) {
  int best = -1;
  for (int d = 0; d < sums.planes; ++d) {
    const int left = x + min_disparity + d;
    if (left < 0 || left >= sums.width) continue;
    if (best < 0 || sums(left, y, d) < sums(x + min_disparity + best, y, best)) best = d;
  }
  return best;
}

Image<float> semi_global_disparity(const PairProblem& problem) {
  const IntVolume costs = transform_costs(problem);
  const IntVolume sums = summed_path_costs(costs, problem.images.left, problem.options.semi_global);
  Image<float> disparity(sums.width, sums.height);
  for (int y = 0; y < sums.height; ++y)
    for (int x = 0; x < sums.width; ++x) disparity(x, y) = disparity_at(sums, problem, x, y);
  if (problem.options.refine.median) disparity = median_of_known(disparity);
  // Production code, which has tests of its own.
  if (!problem.options.refine.smooth_disparities) return disparity;
  const auto& range = problem.options.range;
  return smoothed_disparities(disparity.view(), disparity_bounds(range.min, range.count));
}

}  // namespace recon::reference
