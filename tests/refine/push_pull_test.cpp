#include "refine/push_pull.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace recon {
namespace {

constexpr float kHole = std::numeric_limits<float>::quiet_NaN();

Image<float> with_holes(int width, int height, double share, std::mt19937& random) {
  Image<float> map(width, height);
  std::uniform_real_distribution<float> value(1, 9);
  std::bernoulli_distribution hole(share);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) map(x, y) = hole(random) ? kHole : value(random);
  return map;
}

TEST(PushPull, KeepsWhatIsKnownAndStaysBetweenItsEnds) {
  std::mt19937 random(7);
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {17, 1}, {31, 23}, {64, 33}})
    for (const double share : {0.1, 0.9, 0.99}) {
      Image<float> map = with_holes(width, height, share, random);
      map(width - 1, height - 1) = 5;
      Image<float> filled = map.clone();
      push_pull(filled.view());
      float least = 9, largest = 1;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          if (!std::isnan(map(x, y))) {
            EXPECT_EQ(filled(x, y), map(x, y));
            least = std::min(least, map(x, y));
            largest = std::max(largest, map(x, y));
          }
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          ASSERT_GE(filled(x, y), least - 1e-5F) << width << " " << height << " " << share;
          ASSERT_LE(filled(x, y), largest + 1e-5F);
        }
    }
}

TEST(PushPull, ContinuesASlopeOverAHole) {
  // The solution of Laplace's equation in the hole is the slope itself.
  Image<float> map(80, 60);
  const auto slope = [](int x, int y) {
    return 1 + 0.02F * static_cast<float>(x) + 0.01F * static_cast<float>(y);
  };
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 80; ++x) map(x, y) = x >= 30 && x < 46 && y >= 20 && y < 36 ? kHole : slope(x, y);
  push_pull(map.view());
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 80; ++x) EXPECT_NEAR(map(x, y), slope(x, y), 0.08F) << x << " " << y;
}

TEST(PushPull, LeavesAnUnknownMapUnknown) {
  Image<float> map(5, 4, kHole);
  push_pull(map.view());
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_TRUE(std::isnan(map(x, y)));
  push_pull(ImageView<float>{});
}

}  // namespace
}  // namespace recon
