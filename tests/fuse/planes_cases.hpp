#pragma once

#include <cmath>
#include <random>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// Grey levels that change smoothly with a position, differently for each seed.
class SmoothTexture {
 public:
  explicit SmoothTexture(unsigned seed) : random_(seed) {
    for (Wave& wave : waves_)
      wave = {frequency(), frequency(), std::uniform_real_distribution<double>(0, 6.28)(random_)};
  }
  /// About 0 .. 255. @param x, y  in wavelengths, about
  double operator()(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return 127 + 30 * sum;
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  double frequency() { return std::uniform_real_distribution<double>(-4, 4)(random_); }
  std::mt19937 random_;
  Wave waves_[6] = {};
};

/// The grey level of the nearest value.
inline std::uint8_t as_grey(double value) {
  return static_cast<std::uint8_t>(std::lround(std::fmin(255, std::fmax(0, value))));
}

inline Pose turned(double a, double b, double c, Vec3d translation) {
  const Mat3d x{{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
  const Mat3d y{{std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b)}};
  const Mat3d z{{std::cos(c), -std::sin(c), 0, std::sin(c), std::cos(c), 0, 0, 0, 1}};
  return {x * y * z, translation};
}

}  // namespace recon
