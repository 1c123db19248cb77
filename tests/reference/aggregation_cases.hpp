#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "reference/sweep_problems.hpp"

namespace recon::reference {

/// Patches of colour with some noise, so that arms of all lengths occur.
inline Image<Rgb8> random_colours(int width, int height, std::uint32_t seed) {
  Image<Rgb8> image(width, height);
  const auto level = [&](int x, int y, std::uint32_t c) {
    const auto ux = static_cast<std::uint32_t>(x), uy = static_cast<std::uint32_t>(y);
    return static_cast<std::uint8_t>(90 + 80 * hashed(seed + c, ux / 11, uy / 9) +
                                     12 * hashed(seed + 7 + c, ux, uy));
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image(x, y) = {level(x, y, 0), level(x, y, 1), level(x, y, 2)};
  return image;
}

/// Max cost of the cases below.
inline constexpr float kMaxCost = 255.0f;

/// Random costs 0 .. kMaxCost; integers if requested.
inline Volume<float> random_costs(int width, int planes, int height, std::uint32_t seed, bool whole = false) {
  Volume<float> costs(width, planes, height);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < planes; ++d)
      for (int x = 0; x < width; ++x) {
        const double cost = static_cast<double>(kMaxCost) * hashed(seed + static_cast<std::uint32_t>(d),
                                                                   static_cast<std::uint32_t>(x),
                                                                   static_cast<std::uint32_t>(y));
        costs.view()(x, y, d) = static_cast<float>(whole ? std::floor(cost) : cost);
      }
  return costs;
}

/// Removes the cost of single samples and of whole patches, like sources of a sweep that do not see them.
inline void cut_gaps(VolumeView<float> costs, std::uint32_t seed) {
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d)
      for (int x = 0; x < costs.width; ++x) {
        const auto at = [&](std::uint32_t stream, int size) {
          return hashed(seed + stream + static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(x / size),
                        static_cast<std::uint32_t>(y / size));
        };
        // Every third plane has no gaps.
        if (d % 3 != 2 && (at(0, 9) < 0.3f || at(100, 1) < 0.1f))
          costs(x, y, d) = std::numeric_limits<float>::infinity();
      }
}

/// A poisoned volume, different from any result.
inline Volume<float> poisoned(int width, int planes, int height) {
  Volume<float> volume(width, planes, height);
  for (int y = 0; y < height; ++y)
    for (int d = 0; d < planes; ++d)
      for (int x = 0; x < width; ++x) volume.view()(x, y, d) = std::numeric_limits<float>::quiet_NaN();
  return volume;
}

/// Fails at the first cost whose error exceeds `bound` times the expected cost plus `absolute`.
inline testing::AssertionResult near(VolumeView<const float> actual, VolumeView<const float> expected,
                                     double bound, double absolute = 0) {
  if (actual.width != expected.width || actual.planes != expected.planes || actual.height != expected.height)
    return testing::AssertionFailure() << "sizes differ";
  for (int y = 0; y < actual.height; ++y)
    for (int d = 0; d < actual.planes; ++d)
      for (int x = 0; x < actual.width; ++x) {
        const double a = static_cast<double>(actual(x, y, d)), e = static_cast<double>(expected(x, y, d));
        if (!(a == e) && !(std::abs(a - e) <= bound * std::abs(e) + absolute && std::isfinite(e)))
          return testing::AssertionFailure()
                 << "at x " << x << ", y " << y << ", d " << d << ": " << a << " instead of " << e;
      }
  return testing::AssertionSuccess();
}

/// Costs up to kMaxCost in the units of constant windows and crosses: multiples of 2^-10.
inline Volume<float> in_units(VolumeView<const float> costs) {
  Volume<float> units(costs.width, costs.planes, costs.height);
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d)
      for (int x = 0; x < costs.width; ++x)
        units.view()(x, y, d) = std::nearbyint(costs(x, y, d) * 1024.0f) / 1024.0f;
  return units;
}

/// `near` for means after some iterations, the first of which has costs in units: two roundings per
/// iteration, to float and in the division, and half a unit of 2^-10 from the second one on.
inline testing::AssertionResult near_means(VolumeView<const float> actual, VolumeView<const float> expected,
                                           int iterations = 1) {
  return near(actual, expected, iterations * 2e-7, std::max(iterations - 1, 0) * 0x1p-11);
}

/// Sizes and numbers of planes at which implementations use different code paths.
struct VolumeShape {
  int width, height, planes, min_disparity;
};

inline constexpr VolumeShape kVolumeShapes[] = {
    {1, 1, 1, 0},     {1, 1, 16, 0},   {1, 33, 7, 0},  {33, 1, 7, -3},  {33, 17, 1, 2}, {33, 17, 7, 0},
    {35, 19, 16, -5}, {20, 9, 100, 0}, {17, 5, 3, 40}, {17, 5, 3, -40}, {67, 23, 5, 1}};

inline std::string describe(const VolumeShape& s) {
  return std::to_string(s.width) + " x " + std::to_string(s.height) + ", planes " + std::to_string(s.planes) +
         " from " + std::to_string(s.min_disparity);
}

}  // namespace recon::reference
