#pragma once

#include <functional>

#include "scene/pinhole.hpp"

namespace recon::test {

/// What a map holds of a depth, on a ray of some length.
using Change = std::function<double(double depth, double ray)>;

inline const Change kRight = [](double depth, double) { return depth; };
inline const Change kDistance = [](double depth, double ray) { return depth * ray; };
inline const Change kInverse = [](double depth, double) { return 1 / depth; };
inline Change scaled_by(double factor, const Change& change = kRight) {
  return [=](double depth, double ray) { return factor * change(depth, ray); };
}

inline const Pinhole kWide{320, 240, 200, 200, 160, 120}, kNarrow{320, 240, 4000, 4000, 160, 120};

}  // namespace recon::test
