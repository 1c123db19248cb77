#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "match/posed_image.hpp"
#include "methods/backend.hpp"

namespace recon::test {

/// A small sweep, described in a line.
struct SweepCase {
  const char* name;
  int width, height;
  int source_width, source_height;
  int planes;
  int sources;
  CostKind cost = CostKind::kSad;
  int channels = 1;
  int window = 7;
  Combination combination = Combination::kMinimum;
  int best_k = 1;
  double turn = 0.05;     ///< radians by which the sources are rotated about all axes
  double baseline = 0.3;  ///< scene units from source to source; depths are 2 .. 10
  double forward = 0.0;   ///< by which the sources stand before the reference
};

inline void PrintTo(const SweepCase& c, std::ostream* stream) {
  *stream << c.name;
}

/// Images of random patches of all sizes and random cameras, replayed from the case alone.
class SweepScene {
 public:
  explicit SweepScene(const SweepCase& c)
      : random_(static_cast<unsigned>(c.width * 31 + c.planes * 7 + c.window)) {
    problem_.planes = make_plane_set(2.0, 10.0, c.planes);
    problem_.cost = {c.cost, c.window, c.combination, c.best_k};
    problem_.reference = posed(c, c.width, c.height, {});
    for (int i = 0; i < c.sources; ++i) {
      const double side = i % 2 == 0 ? 1.0 : -1.0;
      Pose pose;
      pose.rotation = rotation(c.turn * uniform(), c.turn * uniform(), c.turn * uniform());
      pose.translation = {side * c.baseline * (i / 2 + 1), 0.4 * c.baseline * uniform(),
                          -c.forward * (i + 1)};
      problem_.sources.push_back(posed(c, c.source_width + 3 * i, c.source_height + 2 * i, pose));
    }
  }

  const SweepProblem& problem() const { return problem_; }
  SweepProblem& problem() { return problem_; }

 private:
  double uniform() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random_); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  static Mat3d rotation(double a, double b, double c) {
    const Mat3d x{{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
    const Mat3d y{{std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b)}};
    const Mat3d z{{std::cos(c), -std::sin(c), 0, std::sin(c), std::cos(c), 0, 0, 0, 1}};
    return x * y * z;
  }

  PosedImage posed(const SweepCase& c, int width, int height, const Pose& pose) {
    PosedImage image;
    const double focal = 1.1 * c.width + 3;
    image.camera = {width, height, focal, 0.98 * focal, 0.5 * width + 0.3, 0.5 * height - 0.2};
    image.cam_from_world = pose;
    image.channels = c.channels;
    for (int i = 0; i < c.channels; ++i) {
      images_.push_back(patches(width, height));
      image.channel[static_cast<std::size_t>(i)] = images_.back().view();
    }
    return image;
  }

  /// Noise on flat patches: flat windows (ties, ZNCC of 1), extremes and everything between occur.
  Image<std::uint8_t> patches(int width, int height) {
    Image<std::uint8_t> image(width, height, static_cast<std::uint8_t>(integer(0, 255)));
    for (int i = 0; i < 60; ++i) {
      const int x0 = integer(0, width - 1), y0 = integer(0, height - 1);
      const int x1 = integer(x0, width - 1), y1 = integer(y0, height - 1);
      const int level = integer(0, 3) == 0 ? 255 * integer(0, 1) : integer(0, 255),
                noise = integer(0, 1) * 40;
      for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x)
          image(x, y) = static_cast<std::uint8_t>(std::clamp(level + integer(-noise, noise), 0, 255));
    }
    return image;
  }

  std::mt19937 random_;
  std::vector<Image<std::uint8_t>> images_;
  SweepProblem problem_;
};

/// Sizes around those of the tiles, odd ones, single pixels and rows; windows, costs and combinations of
/// every kind.
inline std::vector<SweepCase> sweep_cases() {
  using enum Combination;
  constexpr CostKind sad = CostKind::kSad, zncc = CostKind::kZncc;
  return {
      {"OnePixel", 1, 1, 5, 4, 2, 1},
      {"OneRow", 37, 1, 40, 9, 5, 2},
      {"OneColumn", 1, 41, 9, 50, 5, 2},
      {"SourceOfOnePixel", 9, 7, 1, 1, 3, 1},
      {"SadMinimum", 311, 139, 300, 150, 17, 3},
      {"SadTileExactly", 120, 58, 140, 70, 9, 2},
      {"SadTilePlusOne", 121, 59, 140, 70, 9, 2},
      {"SadTallTileExactly", 120, 74, 140, 90, 9, 2},
      {"SadTallTilePlusOne", 121, 75, 140, 90, 9, 2},
      {"SadWindow3", 133, 67, 150, 80, 8, 3, sad, 1, 3, kBestK, 2},
      {"SadWindow5", 133, 67, 150, 80, 8, 3, sad, 1, 5},
      {"SadWindow9", 133, 67, 150, 80, 8, 3, sad, 1, 9, kBestK, 2},
      {"SadWindow11", 133, 67, 150, 80, 8, 3, sad, 1, 11},
      {"SadWindow13", 133, 67, 150, 80, 8, 3, sad, 1, 13, kBestK, 2},
      {"SadWindow15", 133, 67, 150, 80, 8, 3, sad, 1, 15},
      {"SadBest1", 97, 45, 100, 60, 7, 4, sad, 1, 7, kBestK, 1},
      {"SadBest2", 140, 77, 130, 70, 33, 5, sad, 1, 7, kBestK, 2},
      {"SadBest3", 97, 45, 100, 60, 7, 5, sad, 1, 7, kBestK, 3},
      {"SadBest8", 67, 33, 70, 40, 5, 10, sad, 1, 5, kBestK, 8},
      {"SadMean", 97, 45, 100, 60, 7, 5, sad, 1, 7, kMean},
      {"SadMeanWindow15", 133, 67, 150, 80, 8, 3, sad, 1, 15, kMean},
      {"SadManySources", 45, 33, 50, 40, 140, 32, sad, 1, 3, kBestK, 2, 0.02, 0.02},
      {"SadManyPlanes", 65, 33, 70, 40, 257, 2},
      {"SadTwoPlanes", 65, 33, 70, 40, 2, 2},
      {"SadTurned", 130, 66, 150, 150, 9, 3, sad, 1, 7, kMinimum, 1, 0.9},
      {"SadForward", 130, 66, 90, 60, 19, 3, sad, 1, 7, kBestK, 2, 0.05, 0.2, 2.5},
      {"SadNothingSeen", 65, 33, 30, 20, 5, 2, sad, 1, 7, kMinimum, 1, 0.0, 90.0},
      {"ColourMinimum", 133, 67, 150, 80, 7, 3, sad, 3, 7},
      {"ColourBest2", 121, 59, 150, 80, 6, 3, sad, 3, 5, kBestK, 2},
      {"ColourWindow15", 61, 37, 70, 50, 4, 3, sad, 3, 15, kBestK, 2},
      {"ColourMean", 61, 37, 70, 50, 4, 3, sad, 3, 3, kMean},
      {"ColourBest3Window11", 61, 37, 70, 50, 4, 5, sad, 3, 11, kBestK, 3},
      {"ZnccMinimum", 133, 67, 150, 80, 9, 3, zncc, 1, 7},
      {"ZnccBest2", 311, 79, 300, 90, 9, 4, zncc, 1, 7, kBestK, 2},
      {"ZnccTileExactly", 120, 58, 140, 70, 9, 3, zncc, 1, 7, kBestK, 2},
      {"ZnccTilePlusOne", 121, 59, 140, 70, 9, 3, zncc, 1, 7, kBestK, 2},
      {"ZnccTilesOfWindow15", 121, 109, 140, 120, 7, 3, zncc, 1, 15, kBestK, 2},
      {"ZnccBest5", 67, 33, 70, 40, 5, 8, zncc, 1, 5, kBestK, 5},
      {"ZnccMean", 67, 33, 70, 40, 5, 4, zncc, 1, 5, kMean},
      {"ZnccWindow3", 121, 31, 130, 40, 5, 3, zncc, 1, 3, kBestK, 2},
      {"ZnccWindow9", 121, 31, 130, 40, 5, 3, zncc, 1, 9, kBestK, 2},
      {"ZnccWindow11", 113, 23, 130, 40, 5, 3, zncc, 1, 11, kBestK, 2},
      {"ZnccWindow13", 113, 41, 130, 40, 5, 3, zncc, 1, 13, kBestK, 2},
      {"ZnccWindow15", 113, 41, 130, 40, 5, 3, zncc, 1, 15, kBestK, 2},
      {"ZnccMinimumWindow11", 113, 23, 130, 40, 5, 3, zncc, 1, 11},
      {"ZnccBest3Window9", 121, 31, 130, 40, 5, 4, zncc, 1, 9, kBestK, 3},
      {"ZnccMeanWindow13", 113, 41, 130, 40, 5, 3, zncc, 1, 13, kMean},
      {"ZnccTurned", 130, 66, 150, 150, 7, 3, zncc, 1, 7, kBestK, 2, 0.9},
      {"ZnccForward", 130, 66, 90, 60, 9, 3, zncc, 1, 7, kBestK, 2, 0.05, 0.2, 2.5},
  };
}

}  // namespace recon::test
