#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "match/posed_image.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::reference {

/// A pseudo-random number in [0, 1) from a seed and a position: cases are reproducible by their seed.
inline double hashed(std::uint32_t seed, std::uint32_t a, std::uint32_t b = 0) {
  std::uint32_t h = seed * 0x9E3779B9u ^ a * 0x85EBCA6Bu ^ b * 0xC2B2AE35u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return (h ^ h >> 15) / 4294967296.0;
}

/// A sweep problem that owns its images.
struct OwnedProblem {
  std::vector<Image<std::uint8_t>> images;
  SweepProblem problem;
};

struct ProblemShape {
  int width = 31, height = 17, source_width = 37, source_height = 23;
  int sources = 2, planes = 5, channels = 1;
  double turn_degrees = 4;  ///< max rotation of the sources about all axes
  std::uint32_t seed = 1;
};

/// Random smooth images and cameras that look at the same place from different sides.
inline OwnedProblem random_problem(const ProblemShape& shape, const CostOptions& options) {
  OwnedProblem owned;
  owned.problem.cost = options;
  owned.problem.planes = make_plane_set(1.0, 4.0, shape.planes);
  for (int i = 0; i <= shape.sources; ++i) {
    const auto seed = shape.seed * 101u + static_cast<std::uint32_t>(i);
    const int width = i == 0 ? shape.width : shape.source_width,
              height = i == 0 ? shape.height : shape.source_height;
    PosedImage image;
    image.camera = {width, height, 0.9 * width + 3, 1.1 * width + 2, 0.5 * width + 0.3, 0.5 * height - 0.2};
    image.channels = shape.channels;
    for (int c = 0; c < shape.channels; ++c) {
      owned.images.emplace_back(width, height);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const double wave = std::sin(0.5 * x + c) * std::cos(0.4 * y - i) + std::sin(0.11 * (x + 2 * y));
          const double noise = hashed(seed + static_cast<std::uint32_t>(c) * 7u,
                                      static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
          owned.images.back()(x, y) = static_cast<std::uint8_t>(127 + 45 * wave + 35 * (noise - 0.5));
        }
      image.channel[static_cast<std::size_t>(c)] = owned.images.back().view();
    }
    if (i > 0) {
      const double scale = shape.turn_degrees * 3.14159265 / 180;
      const double a = scale * (hashed(seed, 1) - 0.5), b = scale * (hashed(seed, 2) - 0.5),
                   g = scale * (hashed(seed, 3) - 0.5);
      const Mat3d rx{{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
      const Mat3d ry{{std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b)}};
      const Mat3d rz{{std::cos(g), -std::sin(g), 0, std::sin(g), std::cos(g), 0, 0, 0, 1}};
      image.cam_from_world.rotation = rx * ry * rz;
      image.cam_from_world.translation = {0.4 * (hashed(seed, 4) - 0.5), 0.4 * (hashed(seed, 5) - 0.5),
                                          0.3 * (hashed(seed, 6) - 0.5)};
      owned.problem.sources.push_back(image);
    } else {
      owned.problem.reference = image;
    }
  }
  return owned;
}

}  // namespace recon::reference
