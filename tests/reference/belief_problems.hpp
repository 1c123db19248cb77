#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "methods/stereo/pair.hpp"
#include "reference/sweep_problems.hpp"

namespace recon::reference {

/// A pair that owns its images.
struct BeliefPair {
  Image<std::uint8_t> left, right;

  PairProblem problem(DisparityRange range, const BeliefOptions& belief) const {
    PairProblem p;
    p.images.left = left.view();
    p.images.right = right.view();
    p.options = {presets::belief_propagation(), range};
    p.options.belief = belief;
    return p;
  }
};

/// A textured plane in front of a textured wall, with noise; objects repeat in small images.
inline BeliefPair random_pair(int width, int height, std::uint32_t seed) {
  BeliefPair pair{Image<std::uint8_t>(width, height), Image<std::uint8_t>(width, height)};
  const auto texture = [&](int x, int y) {
    return 255.0 * hashed(seed, static_cast<std::uint32_t>(x + 4096), static_cast<std::uint32_t>(y));
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int d = x > width / 3 && x < width * 3 / 4 && y > height / 4 ? 5 : 2;
      const double noise =
          6.0 * hashed(seed + 1, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      pair.left(x, y) = static_cast<std::uint8_t>(std::min(255.0, texture(x - d, y) + noise));
      pair.right(x, y) = static_cast<std::uint8_t>(texture(x, y));
    }
  return pair;
}

/// An image set of the paper.
struct PaperSet {
  const char* name;
  int disparities;
  const char* truth;
  double truth_scale;
  int unknown;  ///< grey level of pixels without ground truth; -1: none
};

inline const std::vector<PaperSet>& paper_sets() {
  static const std::vector<PaperSet> sets{{"tsukuba", 16, "truedisp.row3.col3.pgm", 16, 0},
                                          {"venus", 21, "disp2.pgm", 8, -1},
                                          {"barn1", 32, "disp2.pgm", 8, -1},
                                          {"cones_quarter", 64, "disp2.pgm", 4, 0},
                                          {"cones_half", 128, "disp2.pgm", 2, 0}};
  return sets;
}

/// Share of the pixels with ground truth whose disparity error exceeds one pixel.
inline double bad_share(const DisparityMap& map, ImageView<const std::uint8_t> truth, const PaperSet& set) {
  std::size_t known = 0, bad = 0;
  for (int y = 0; y < truth.height; ++y)
    for (int x = 0; x < truth.width; ++x) {
      if (truth(x, y) == set.unknown) continue;
      ++known;
      bad += std::abs(static_cast<double>(map.disparity(x, y)) - truth(x, y) / set.truth_scale) > 1.0 ? 1 : 0;
    }
  return static_cast<double>(bad) / static_cast<double>(known);
}

}  // namespace recon::reference
