// What remains of displacements when a photo may be moved as a whole: motions written out by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/quantile.hpp"
#include "scene/calibration_check.hpp"

namespace recon {
namespace {

const Vec2d kCentre{128, 96};

using Motion = std::function<Vec2d(Vec2d)>;

/// Displacements over an image of 256 x 192 pixels, with a scatter of 0.2 pixels in each direction.
std::vector<Displacement> displaced(const Motion& motion, int count = 200, double scatter = 0.2) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> x(0, 256), y(0, 192);
  std::normal_distribution<double> noise(0, 1);
  std::vector<Displacement> displacements;
  for (int i = 0; i < count; ++i) {
    const Vec2d observed{x(random), y(random)}, moved = motion(observed);
    displacements.push_back(
        {observed, {moved.x + scatter * noise(random), moved.y + scatter * noise(random)}});
  }
  return displacements;
}

double median(std::vector<double> values) {
  return quantile(values, 0.5);
}

double median_length(const std::vector<Displacement>& displacements) {
  std::vector<double> lengths;
  for (const Displacement& it : displacements) lengths.push_back(it.length());
  return median(lengths);
}

TEST(PhotoMotion, WhatMovesAWholePhotoLeavesItsScatter) {
  const double roll = 1.5 * std::acos(-1.0) / 180;
  const std::vector<Motion> motions = {
      [](Vec2d p) {
        return Vec2d{p.x + 4, p.y - 3};
      },
      [&](Vec2d p) {
        return Vec2d{128 + std::cos(roll) * (p.x - 128) - std::sin(roll) * (p.y - 96),
                     96 + std::sin(roll) * (p.x - 128) + std::cos(roll) * (p.y - 96)};
      },
      [](Vec2d p) {
        return Vec2d{128 + 1.05 * (p.x - 128), 96 + 1.05 * (p.y - 96)};
      },
      [](Vec2d p) {
        return Vec2d{128 + 1.1 * (p.x - 128), p.y};
      },
      [](Vec2d p) {
        const double u = (p.x - 128) / 256, v = (p.y - 96) / 256, bend = 1 - 0.2 * (u * u + v * v);
        return Vec2d{128 + 256 * u * bend, 96 + 256 * v * bend};
      }};
  for (std::size_t i = 0; i < motions.size(); ++i) {
    const std::vector<Displacement> displacements = displaced(motions[i]);
    EXPECT_GT(median_length(displacements), 0.9) << i;
    // The median length of a scatter of 0.2 in two directions: 0.2 sqrt(2 ln 2).
    EXPECT_NEAR(median(remaining_errors(displacements, kCentre)), 0.235, 0.03) << i;
  }
}

TEST(PhotoMotion, AScatterRemains) {
  const std::vector<Displacement> displacements = displaced([](Vec2d p) { return p; }, 200, 2);
  EXPECT_NEAR(median(remaining_errors(displacements, kCentre)), median_length(displacements), 0.15);
}

TEST(PhotoMotion, WrongObservationsDoNotPull) {
  std::vector<Displacement> displacements = displaced([](Vec2d p) { return Vec2d{p.x + 3, p.y}; });
  for (std::size_t i = 0; i < displacements.size(); i += 4) displacements[i].projected.y += 40;
  const std::vector<double> remaining = remaining_errors(displacements, kCentre);
  EXPECT_LT(median(remaining), 0.35);
  EXPECT_NEAR(remaining[4], 40, 1.5);
}

TEST(PhotoMotion, FewAndDegenerateDisplacementsRemainFinite) {
  const Motion shift = [](Vec2d p) { return Vec2d{p.x + 5, p.y}; };
  for (const double it : remaining_errors(displaced(shift, 19, 0), kCentre))
    EXPECT_NEAR(it, 5, 1e-9) << "few remain";
  EXPECT_LT(median(remaining_errors(displaced(shift, 20, 0), kCentre)), 1e-6);
  EXPECT_TRUE(remaining_errors({}, kCentre).empty());
  const std::vector<Displacement> at_one_place(30, {{7, 7}, {7, 9}});
  for (const double it : remaining_errors(at_one_place, kCentre)) EXPECT_TRUE(std::isfinite(it));
  EXPECT_EQ(remaining_errors(at_one_place, {7, 7}), std::vector<double>(30, 2.0));
  std::vector<Displacement> line = displaced(shift);
  for (Displacement& it : line) it.observed.y = 20, it.projected.y = 21;
  for (const double it : remaining_errors(line, kCentre)) EXPECT_TRUE(std::isfinite(it));
}

}  // namespace
}  // namespace recon
