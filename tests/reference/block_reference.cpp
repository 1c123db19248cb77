#include "reference/block_reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace recon::reference {
namespace {

/// An integer image; the border is replicated outside.
struct Picture {
  int width, height;
  std::vector<int> values;

  Picture(int w, int h)
      : width(w), height(h), values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  std::size_t index(int x, int y) const {
    x = std::min(std::max(x, 0), width - 1);
    y = std::min(std::max(y, 0), height - 1);
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
  int operator()(int x, int y) const { return values[index(x, y)]; }
  int& at(int x, int y) { return values[index(x, y)]; }
};

Picture picture_of(ImageView<const std::uint8_t> image) {
  Picture picture(image.width, image.height);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) picture.at(x, y) = image(x, y);
  return picture;
}

Picture prepared(const Picture& image, const BlockMatchingOptions& options) {
  if (options.prefilter == BlockPrefilter::kNone) return image;
  const int kernel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  Picture result(image.width, image.height);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int slope = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) slope += kernel[j + 1][i + 1] * image(x + i, y + j);
      result.at(x, y) =
          std::min(std::max(slope, -options.prefilter_cap), options.prefilter_cap) + options.prefilter_cap;
    }
  return result;
}

/// Grey level at `position` steps along a row, bilinear and rounded half up; the border is replicated.
int sample(const Picture& image, int position, int y, int steps) {
  position = std::min(std::max(position, 0), steps * (image.width - 1));
  const int whole = position / steps, part = position % steps;
  const double value =
      image(whole, y) + static_cast<double>(part) / steps * (image(whole + 1, y) - image(whole, y));
  return static_cast<int>(std::floor(value + 0.5));
}

/// A value for every pixel and hypothesis.
struct CostVolume {
  int width, height, hypotheses;
  std::vector<long> values;

  CostVolume(int w, int h, int k)
      : width(w),
        height(h),
        hypotheses(k),
        values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * static_cast<std::size_t>(k)) {}
  std::size_t index(int x, int y, int k) const {
    x = std::min(std::max(x, 0), width - 1);
    y = std::min(std::max(y, 0), height - 1);
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) *
               static_cast<std::size_t>(hypotheses) +
           static_cast<std::size_t>(k);
  }
  long operator()(int x, int y, int k) const { return values[index(x, y, k)]; }
  long& at(int x, int y, int k) { return values[index(x, y, k)]; }
};

CostVolume costs_of(const Picture& left, const Picture& right, DisparityRange range,
                    const BlockMatchingOptions& options) {
  const int steps = options.steps_per_pixel;
  CostVolume volume(left.width, left.height, range.count * steps);
  for (int y = 0; y < left.height; ++y)
    for (int x = 0; x < left.width; ++x)
      for (int k = 0; k < volume.hypotheses; ++k) {
        const long difference = left(x, y) - sample(right, steps * (x - range.min) - k, y, steps);
        volume.at(x, y, k) =
            options.cost == BlockCost::kSsd ? difference * difference : std::labs(difference);
      }
  return volume;
}

/// Window sums: along the rows, then along the columns; border costs are replicated outside the image.
CostVolume window_sums(const CostVolume& costs, int radius) {
  CostVolume rows(costs.width, costs.height, costs.hypotheses), sums = rows;
  const auto add = [&](const CostVolume& from, CostVolume& to, int dx, int dy) {
    for (int y = 0; y < costs.height; ++y)
      for (int x = 0; x < costs.width; ++x)
        for (int i = -radius; i <= radius; ++i)
          for (int k = 0; k < costs.hypotheses; ++k) to.at(x, y, k) += from(x + i * dx, y + i * dy, k);
  };
  add(costs, rows, 1, 0);
  add(rows, sums, 0, 1);
  return sums;
}

struct Match {
  int k = -1;
  long cost = 0;
  float disparity = kUnknown;
};

float parabola(const CostVolume& sums, int x, int y, int k) {
  if (k == 0 || k + 1 == sums.hypotheses) return 0.0f;
  const float before = static_cast<float>(sums(x, y, k - 1)), at = static_cast<float>(sums(x, y, k)),
              after = static_cast<float>(sums(x, y, k + 1));
  const float curvature = (before - at) + (after - at);
  if (curvature <= 0.0f) return 0.0f;
  return std::min(std::max(0.5f * (before - after) / curvature, -0.5f), 0.5f);
}

Match best_match(const CostVolume& sums, int x, int y, DisparityRange range,
                 const BlockMatchingOptions& options) {
  const int steps = options.steps_per_pixel, side = 2 * options.radius + 1;
  Match match{0, sums(x, y, 0), kUnknown};
  for (int k = 1; k < sums.hypotheses; ++k)
    if (sums(x, y, k) < match.cost) match = {k, sums(x, y, k), kUnknown};
  if (options.max_mean_cost > 0 &&
      static_cast<double>(match.cost) > static_cast<double>(options.max_mean_cost) * side * side)
    return match;
  for (int k = 0; k < sums.hypotheses && options.uniqueness > 0; ++k)
    if (std::abs(k - match.k) > steps && sums(x, y, k) * (100 - options.uniqueness) < match.cost * 100)
      return match;
  const float offset = options.subpixel ? parabola(sums, x, y, match.k) : 0.0f;
  match.disparity = (static_cast<float>(range.min * steps + match.k) + offset) / static_cast<float>(steps);
  return match;
}

/// Of the pixels of a row that match one position of the right image, the one with the min cost (on ties with
/// the lowest hypothesis) becomes the owner; the others have to be close to it.
void check_left_right(std::vector<Match>& row, int first_x, int width, DisparityRange range,
                      const BlockMatchingOptions& options) {
  if (options.left_right < 0) return;
  const int steps = options.steps_per_pixel;
  const auto position = [&](std::size_t i) {
    return steps * (first_x + static_cast<int>(i) - range.min) - row[i].k;
  };
  std::map<int, std::pair<long, int>> owners;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::pair<long, int> claim{row[i].cost, row[i].k};
    const auto [owner, first] = owners.emplace(position(i), claim);
    if (!first) owner->second = std::min(owner->second, claim);
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int p = position(i);
    if (p < 0 || p > steps * (width - 1) ||
        std::abs(owners.at(p).second - row[i].k) > options.left_right * steps)
      row[i].disparity = kUnknown;
  }
}

bool is_flat(const Picture& left, int x, int y, const BlockMatchingOptions& options) {
  long contrast = 0;
  const int r = options.radius, side = 2 * r + 1;
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i) {
      const int column = std::min(std::max(x + i, 0), left.width - 1);
      contrast += std::abs(left(column + 1, y + j) - left(column - 1, y + j));
    }
  return static_cast<double>(contrast) < static_cast<double>(options.min_texture) * side * side;
}

Image<float> median(const Image<float>& map) {
  Image<float> result(map.width(), map.height(), kUnknown);
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x) {
      if (std::isnan(map(x, y))) continue;
      std::vector<float> known;
      for (int j = std::max(y - 1, 0); j <= std::min(y + 1, map.height() - 1); ++j)
        for (int i = std::max(x - 1, 0); i <= std::min(x + 1, map.width() - 1); ++i)
          if (!std::isnan(map(i, j))) known.push_back(map(i, j));
      std::sort(known.begin(), known.end());
      result(x, y) = known[(known.size() - 1) / 2];
    }
  return result;
}

Image<float> match_level(const Picture& left, const Picture& right, DisparityRange range,
                         const Region& region, const BlockMatchingOptions& options) {
  const CostVolume sums = window_sums(
      costs_of(prepared(left, options), prepared(right, options), range, options), options.radius);
  Image<float> map(left.width, left.height, kUnknown);
  for (int y = region.y; y < region.y + region.height; ++y) {
    std::vector<Match> row;
    for (int x = region.x; x < region.x + region.width; ++x)
      row.push_back(best_match(sums, x, y, range, options));
    check_left_right(row, region.x, left.width, range, options);
    for (int i = 0; i < region.width; ++i)
      if (!is_flat(left, region.x + i, y, options))
        map(region.x + i, y) = row[static_cast<std::size_t>(i)].disparity;
  }
  return options.median ? median(map) : std::move(map);
}

Picture half_of(const Picture& image) {
  Picture half((image.width + 1) / 2, (image.height + 1) / 2);
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x) {
      const int sum = image(2 * x, 2 * y) + image(2 * x + 1, 2 * y) + image(2 * x, 2 * y + 1) +
                      image(2 * x + 1, 2 * y + 1);
      half.at(x, y) = static_cast<int>(std::floor(sum / 4.0 + 0.5));
    }
  return half;
}

int floor_of_half(int value) {
  return static_cast<int>(std::floor(value / 2.0));
}

Image<float> match_levels(const Picture& left, const Picture& right, DisparityRange range,
                          const Region& region, int levels, const BlockMatchingOptions& options) {
  const double part = std::pow(2.0, levels - 1);
  const DisparityRange here{range.min, static_cast<int>(std::ceil(range.count / part))};
  Image<float> map = match_level(left, right, here, region, options);
  if (levels == 1) return map;
  const int least = floor_of_half(range.min);
  const DisparityRange halved{least, floor_of_half(range.min + range.count - 1) - least + 1};
  Region smaller{region.x / 2, region.y / 2, 0, 0};
  smaller.width = (region.x + region.width - 1) / 2 - smaller.x + 1;
  smaller.height = (region.y + region.height - 1) / 2 - smaller.y + 1;
  const Image<float> coarse =
      match_levels(half_of(left), half_of(right), halved, smaller, levels - 1, options);
  for (int y = region.y; y < region.y + region.height; ++y)
    for (int x = region.x; x < region.x + region.width; ++x) {
      const float doubled = 2.0f * coarse(x / 2, y / 2);
      if (!std::isnan(doubled) && doubled > static_cast<float>(here.min + here.count - 1))
        map(x, y) = doubled;
    }
  return map;
}

}  // namespace

Image<float> block_matching(const PairProblem& problem) {
  const BlockMatchingOptions& options = problem.options.block;
  Region region = options.region;
  if (region.width == 0 || region.height == 0)
    region = {0, 0, problem.images.left.width, problem.images.left.height};
  return match_levels(picture_of(problem.images.left), picture_of(problem.images.right),
                      problem.options.range, region, options.pyramid_levels, options);
}

}  // namespace recon::reference
