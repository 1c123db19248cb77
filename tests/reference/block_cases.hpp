#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "methods/stereo/pair.hpp"

/// Small pairs and options on which all implementations of block matching have to give the same map.

namespace recon::reference {

/// Pseudo-random numbers determined by a seed.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  /// In [0, end).
  int below(int end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_;
};

struct BlockPair {
  Image<std::uint8_t> left, right;
  PairProblem problem;
};

/// A wall whose depth decreases from left to right, with a box in front of it and some noise; a strip without
/// texture at the bottom.
inline BlockPair textured_pair(int width, int height, DisparityRange range, BlockMatchingOptions options) {
  BlockPair pair{Image<std::uint8_t>(width, height), Image<std::uint8_t>(width, height), {}};
  Numbers numbers(static_cast<std::uint64_t>(width * 1000 + height * 10 + range.count));
  const int length = width + 2 * range.count + 8;
  std::vector<int> texture(static_cast<std::size_t>(length));
  for (int y = 0; y < height; ++y) {
    for (int& grey : texture) grey = 40 + numbers.below(160);
    const bool flat = y >= height - height / 8;
    for (int x = 0; x < width; ++x) {
      pair.right(x, y) =
          static_cast<std::uint8_t>(flat ? 90 : texture[static_cast<std::size_t>(x)] + numbers.below(6));
    }
    for (int x = 0; x < width; ++x) {
      const bool box = x > width / 3 && x < width / 2 && y > height / 4 && y < 3 * height / 4;
      const int shift = range.min + (box ? 3 * range.count / 4 : x * range.count / (3 * width));
      const int from = x - shift;
      const int grey = from >= 0 && from < width ? pair.right(from, y) : texture[static_cast<std::size_t>(x)];
      pair.left(x, y) = static_cast<std::uint8_t>(flat ? 90 : grey + numbers.below(6));
    }
  }
  pair.problem.images.left = pair.left.view();
  pair.problem.images.right = pair.right.view();
  pair.problem.options = {presets::block_matching(), range};
  pair.problem.options.block = options;
  return pair;
}

struct BlockCase {
  std::string name;
  int width, height;
  DisparityRange range;
  BlockMatchingOptions options;

  BlockPair pair() const { return textured_pair(width, height, range, options); }
};

inline void PrintTo(const BlockCase& c, std::ostream* out) {
  *out << c.name;
}

inline std::vector<BlockCase> block_cases() {
  std::vector<BlockCase> cases;
  const auto add = [&](std::string name, int width, int height, DisparityRange range, const auto& change) {
    BlockMatchingOptions options;
    change(options);
    cases.push_back({std::move(name), width, height, range, options});
  };
  using Options = BlockMatchingOptions;
  const auto nothing = [](Options&) {};
  const auto bare = [](Options& o) {
    o.uniqueness = 0;
    o.left_right = -1;
    o.median = false;
  };
  for (const int count : {1, 7, 16, 100, 257})
    add("Disparities" + std::to_string(count), 131, 37, {0, count}, nothing);
  add("OnePixel", 1, 1, {0, 5}, nothing);
  add("OneRow", 77, 1, {0, 16}, nothing);
  add("OneColumn", 1, 50, {-2, 9}, nothing);
  add("TwoByTwo", 2, 2, {-1, 3}, bare);
  add("WiderThanTheImage", 23, 19, {0, 64}, nothing);
  add("BeyondTheImage", 23, 19, {5000, 6}, bare);
  add("FarBeforeTheImage", 23, 19, {-1048576, 6}, bare);
  add("NegativeLeast", 97, 41, {-20, 33}, nothing);
  for (const int radius : {1, 2, 7, 8, 15}) {
    const std::string r = std::to_string(radius);
    add("SobelRadius" + r, 75, 53, {0, 24}, [&](Options& o) { o.radius = radius; });
    add("SadRadius" + r, 75, 53, {0, 24}, [&](Options& o) {
      bare(o);
      o.radius = radius;
      o.prefilter = BlockPrefilter::kNone;
    });
    add("SsdRadius" + r, 75, 53, {0, 24}, [&](Options& o) {
      o.radius = radius;
      o.cost = BlockCost::kSsd;
      o.prefilter = BlockPrefilter::kNone;
    });
  }
  add("WideWindowWideCap", 75, 53, {0, 24}, [](Options& o) {
    o.radius = 15;
    o.prefilter_cap = 31;
  });
  add("SobelSsd", 75, 53, {0, 24}, [](Options& o) { o.cost = BlockCost::kSsd; });
  for (const int steps : {2, 4})
    for (const int left_right : {-1, 0, 1})
      add("Steps" + std::to_string(steps) + "Check" + std::to_string(left_right + 1), 83, 47, {-3, 21},
          [&](Options& o) {
            o.steps_per_pixel = steps;
            o.left_right = left_right;
            o.subpixel = left_right != 0;
          });
  add("Unchecked", 90, 40, {0, 20}, bare);
  add("Unique", 90, 40, {0, 20}, [](Options& o) { o.uniqueness = 40; });
  add("VeryUnique", 90, 40, {0, 3}, [](Options& o) { o.uniqueness = 99; });
  add("Quality", 90, 40, {0, 20}, [](Options& o) { o.max_mean_cost = 1.5f; });
  add("Texture", 90, 40, {0, 20}, [](Options& o) { o.min_texture = 45.0f; });
  add("Region", 90, 60, {0, 20}, [](Options& o) { o.region = {30, 11, 41, 23}; });
  add("RegionOfOnePixel", 90, 60, {0, 20}, [](Options& o) { o.region = {89, 59, 1, 1}; });
  add("RegionAtTheBorder", 90, 60, {-4, 20}, [&](Options& o) {
    bare(o);
    o.region = {0, 40, 3, 20};
  });
  add("TwoLevels", 141, 63, {0, 41}, [](Options& o) { o.pyramid_levels = 2; });
  add("FourLevelsOfARegion", 141, 63, {-7, 70}, [](Options& o) {
    o.pyramid_levels = 4;
    o.region = {13, 7, 101, 48};
    o.steps_per_pixel = 2;
  });
  add("MoreLevelsThanHalvings", 5, 3, {0, 9}, [](Options& o) { o.pyramid_levels = 8; });
  return cases;
}

}  // namespace recon::reference
