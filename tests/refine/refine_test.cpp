#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "refine/depth_filters.hpp"
#include "refine/normals.hpp"
#include "refine/subplane_step.hpp"

namespace recon {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

TEST(ParabolaOffset, FindsTheVertexOfAParabola) {
  // c(t) = (t - 0.3)^2 + 1 at t = -1, 0, 1.
  EXPECT_NEAR(parabola_offset(2.69f, 1.09f, 1.49f), 0.3f, 1e-6f);
  EXPECT_EQ(parabola_offset(2, 1, 2), 0.0f);
  EXPECT_EQ(parabola_offset(1, 1, 1), 0.0f);
  EXPECT_EQ(parabola_offset(1, 1, 9), -0.5f);
  EXPECT_EQ(parabola_offset(invalid_cost(), 1, 2), 0.0f);
  EXPECT_EQ(parabola_offset(2, 1, invalid_cost()), 0.0f);
}

TEST(NormalsFromDepth, AreExactOnAPlane) {
  const Pinhole camera{60, 40, 70, 90, 31, 18};
  const Vec3d n = normalized(Vec3d{0.4, -0.3, -1.0});
  Image<float> depth(60, 40);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x)
      depth(x, y) = static_cast<float>(dot(n, Vec3d{0, 0, 2}) / dot(n, camera.ray(pixel_centre(x, y))));
  depth(30, 20) = kUnknown;
  depth(31, 20) *= 1.5f;
  const Image<Vec3f> normals = normals_from_depth(depth.view(), camera);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) {
      if (y == 20 && (x == 30 || x == 31)) continue;
      const Vec3f f = normals(x, y);
      EXPECT_NEAR(norm(Vec3d{f.x, f.y, f.z} - n), 0.0, 1e-4) << x << " " << y;
    }
  EXPECT_TRUE(std::isnan(normals(30, 20).x));
  EXPECT_TRUE(std::isnan(normals(31, 20).x)) << "a lone depth has no surface around it";
}

TEST(LocalContrast, IsTheStandardDeviationOfTheWindow) {
  Image<std::uint8_t> grey(5, 3, 10);
  grey(2, 1) = 19;
  const Image<float> contrast = local_contrast(grey.view(), 3);
  // One of nine pixels is 9 above the others: sqrt(9^2 / 9 - 1).
  EXPECT_NEAR(contrast(2, 1), std::sqrt(8.0f), 1e-5f);
  EXPECT_NEAR(contrast(1, 0), std::sqrt(8.0f), 1e-5f);
  EXPECT_EQ(contrast(0, 0), 0.0f);
  // At the corner (4, 2) the window replicates the border; the bright pixel is outside it.
  EXPECT_EQ(contrast(4, 2), 0.0f);
}

TEST(Median, TakesTheMiddleOfTheKnown) {
  Image<float> depth(3, 3, 5.0f);
  depth(1, 1) = 100;
  depth(0, 0) = kUnknown;
  const Image<float> result = median_3x3(depth.view());
  EXPECT_EQ(result(1, 1), 5.0f);
  EXPECT_TRUE(std::isnan(result(0, 0)));
  Image<float> two(2, 1);
  two(0, 0) = 3, two(1, 0) = 4;
  EXPECT_EQ(median_3x3(two.view())(1, 0), 3.0f) << "the lower one of an even number";
}

TEST(RemoveSpeckles, DropsSmallPatchesAndKeepsSteps) {
  Image<float> depth(8, 4, 1.0f);
  depth(3, 1) = depth(4, 1) = 2.0f;                // a patch of two on the far side of a step
  for (int y = 0; y < 4; ++y) depth(7, y) = 3.0f;  // a patch of four
  depth(0, 3) = kUnknown;
  remove_speckles(depth.view(), 3, 0.1f);
  EXPECT_TRUE(std::isnan(depth(3, 1)) && std::isnan(depth(4, 1)));
  EXPECT_EQ(depth(7, 2), 3.0f);
  EXPECT_EQ(depth(0, 0), 1.0f);
  EXPECT_TRUE(std::isnan(depth(0, 3)));
}

}  // namespace
}  // namespace recon
