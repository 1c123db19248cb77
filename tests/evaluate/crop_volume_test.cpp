#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate/cloud_score.hpp"

namespace recon {
namespace {

/// An L of three unit squares, which lacks the one at its upper right.
const std::vector<Vec2d> kCorners{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};

TEST(CropVolume, HoldsWhatIsInThePolygonAndBetweenTheBounds) {
  const CropVolume volume{2, -1, 3, kCorners};
  EXPECT_TRUE(volume.contains({0.5, 0.5, 0}));
  EXPECT_TRUE(volume.contains({1.5, 0.5, -1}));
  EXPECT_TRUE(volume.contains({0.5, 1.5, 3}));
  EXPECT_FALSE(volume.contains({1.5, 1.5, 0}));
  EXPECT_FALSE(volume.contains({-0.5, 0.5, 0}));
  EXPECT_FALSE(volume.contains({2.5, 0.5, 0}));
  EXPECT_FALSE(volume.contains({0.5, 0.5, 3.01}));
  EXPECT_FALSE(volume.contains({0.5, 0.5, -1.01}));
  EXPECT_FALSE(volume.contains({0.5, 0.5, std::numeric_limits<double>::quiet_NaN()}));
}

TEST(CropVolume, IsExtendedAlongItsAxis) {
  const CropVolume along_x{0, 10, 11, kCorners}, along_y{1, 10, 11, kCorners};
  EXPECT_TRUE(along_x.contains({10.5, 1.5, 0.5}));  // y, z in the polygon
  EXPECT_FALSE(along_x.contains({10.5, 1.5, 1.5}));
  EXPECT_FALSE(along_x.contains({0.5, 1.5, 0.5}));
  EXPECT_TRUE(along_y.contains({1.5, 10.5, 0.5}));  // x, z
  EXPECT_FALSE(along_y.contains({1.5, 10.5, 1.5}));
}

TEST(CropVolume, OfAPolygonThatCrossesItselfHasNotWhatIsSurroundedTwice) {
  // A star of five points; its middle is surrounded twice.
  std::vector<Vec2d> star;
  for (int i = 0; i < 5; ++i) star.push_back({std::cos(i * 4 * M_PI / 5), std::sin(i * 4 * M_PI / 5)});
  const CropVolume volume{2, 0, 1, star};
  EXPECT_FALSE(volume.contains({0.01, 0.02, 0.5}));
  EXPECT_TRUE(volume.contains({0.8, 0, 0.5}));
}

}  // namespace
}  // namespace recon
