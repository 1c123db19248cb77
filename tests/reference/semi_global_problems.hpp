#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "methods/stereo/pair.hpp"
#include "reference/sweep_problems.hpp"

namespace recon::reference {

/// A pair that owns its images.
struct OwnedPair {
  Image<std::uint8_t> left, right;
  Image<std::uint16_t> left16, right16;
  PairProblem problem;
};

/// A random left image, and a right one shifted by a piecewise constant disparity within the range, with
/// noise on both; optionally with 16 bits, where neighbours differ by less than a grey level of 8 bits.
/// @param contrast  at about 0.05, the texture is weak at some pixels
inline OwnedPair random_pair(int width, int height, DisparityRange range, std::uint32_t seed,
                             bool deep = false, double contrast = 1) {
  OwnedPair pair{{width, height}, {width, height}, {}, {}, {}};
  if (deep)
    pair.left16 = Image<std::uint16_t>(width, height), pair.right16 = Image<std::uint16_t>(width, height);
  const auto noise = [&](std::uint32_t stream, int x, int y) {
    return contrast *
           hashed(seed * 8 + stream, static_cast<std::uint32_t>(x + 100000), static_cast<std::uint32_t>(y));
  };
  const auto level = [&](int x, int y) { return 40 + 160 * noise(0, x / 2, y / 2) + 30 * noise(1, x, y); };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int step = (x / 9 + y / 7) % 3;
      const int moved = x + range.min + range.count * step / 4;
      const double values[2] = {level(x, y) + 8 * noise(2, x, y), level(moved, y) + 8 * noise(3, x, y)};
      pair.left(x, y) = static_cast<std::uint8_t>(values[0]);
      pair.right(x, y) = static_cast<std::uint8_t>(values[1]);
      if (!deep) continue;
      pair.left16(x, y) = static_cast<std::uint16_t>(values[0] * 256);
      pair.right16(x, y) = static_cast<std::uint16_t>(values[1] * 256);
    }
  }
  pair.problem.images = {pair.left.view(), pair.right.view(), {}, {}};
  if (deep)
    pair.problem.images = {pair.left.view(), pair.right.view(), pair.left16.view(), pair.right16.view()};
  pair.problem.options.range = range;
  return pair;
}

/// Sizes, ranges and options at which implementations of semi-global matching use different code paths.
struct SemiGlobalCase {
  std::string name;
  int width = 33, height = 17;
  DisparityRange range{0, 16};
  MethodSpec options = presets::semi_global();
  bool deep = false;
  double contrast = 1;
};

inline std::vector<SemiGlobalCase> semi_global_cases() {
  const MethodSpec plain = presets::semi_global();
  const auto with_transform = [](Transform transform, int rank_window = 9) {
    MethodSpec options = presets::semi_global();
    options.cost.transform = {transform, rank_window};
    return options;
  };
  MethodSpec four = plain, wide = plain, unchecked = plain, level = plain, wide_four = plain, cheap = plain,
             largest = plain;
  four.semi_global.paths = 4;
  wide.semi_global = {8, 30, 400, 8};
  wide_four.semi_global = {4, 0, 1000, 0};
  unchecked.refine = {}, unchecked.uniqueness = 0;
  cheap.refine.smooth_disparities = false;
  level.semi_global.p2_falloff = 0, level.left_right = 0, level.uniqueness = 15;
  cheap.cost.outside_cost = 0, cheap.refine.median = false, cheap.left_right = 3;
  largest.cost.outside_cost = 255, largest.semi_global = {8, 7000, kMaxPathCost - 255, 3};
  std::vector<SemiGlobalCase> cases{
      {"one_disparity", 33, 17, {0, 1}, plain},
      {"seven", 33, 17, {0, 7}, plain},
      {"a_hundred", 61, 19, {0, 100}, plain},
      {"many_and_wider_than_the_image", 33, 17, {0, 257}, plain},
      {"negative", 50, 23, {-9, 33}, plain},
      {"all_left_of_the_image", 20, 5, {40, 9}, plain},
      {"all_right_of_the_image", 20, 5, {-60, 9}, plain},
      {"one_pixel", 1, 1, {0, 16}, plain},
      {"one_row", 70, 1, {0, 16}, plain},
      {"one_column", 1, 40, {0, 7}, plain},
      {"two_columns", 2, 33, {0, 7}, plain},
      {"four_paths", 70, 31, {0, 16}, four},
      {"wide_path_costs", 45, 21, {0, 16}, wide},
      {"wide_path_costs_64", 45, 21, {-3, 64}, wide},
      {"wide_four_paths", 45, 21, {1, 100}, wide_four},
      {"largest_path_costs", 23, 15, {0, 20}, largest},
      {"no_checks", 45, 21, {0, 16}, unchecked},
      {"constant_p2", 45, 21, {0, 64}, level},
      {"free_outside", 45, 21, {0, 20}, cheap},
      {"rank_3", 40, 20, {0, 16}, with_transform(Transform::kRank, 3)},
      {"rank_15", 40, 20, {0, 16}, with_transform(Transform::kRank, 15)},
      {"census_9x7", 40, 20, {0, 16}, with_transform(Transform::kCensus9x7)},
      {"symmetric_census", 40, 20, {0, 16}, with_transform(Transform::kSymmetricCensus)},
      {"weak_texture", 83, 40, {0, 16}, plain, false, 0.05},
      {"weak_texture_deep", 83, 40, {0, 16}, plain, true, 0.05},
      {"weak_texture_everywhere", 41, 23, {-3, 20}, plain, false, 0.02},
      {"larger", 203, 67, {0, 48}, plain},
      {"several_blocks", 60, 330, {0, 257}, plain},
      {"several_blocks_wide", 60, 330, {0, 257}, wide},
  };
  for (const Transform transform : {Transform::kRank, Transform::kCensus5x5, Transform::kCensus9x7,
                                    Transform::kSymmetricCensus, Transform::kScaledCensus})
    cases.push_back({"deep_" + std::to_string(static_cast<int>(transform)),
                     40,
                     20,
                     {0, 16},
                     with_transform(transform),
                     true});
  return cases;
}

inline OwnedPair make_pair_of(const SemiGlobalCase& which) {
  OwnedPair pair = random_pair(which.width, which.height, which.range,
                               static_cast<std::uint32_t>(which.width * 31 + which.range.count), which.deep,
                               which.contrast);
  pair.problem.options = {which.options, which.range};
  return pair;
}

}  // namespace recon::reference
