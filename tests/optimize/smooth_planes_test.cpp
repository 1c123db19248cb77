// Planes that the pixels around agree on.

#include "optimize/patch_match/smooth_planes.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>

#include "reference/smooth_planes_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {
namespace {

using reference::hashed;

constexpr InverseRange kSmoothTestRange = {0.3f, 2.2f};
constexpr float kUnit = 0.01f;

SlantedPlane plane_at(const SlantedPlane& plane, int x, int y) {
  return {inverse_depth(plane, static_cast<float>(x), static_cast<float>(y)), plane.wx, plane.wy};
}

/// States that scatter around one plane, and another on the right of column `edge`.
struct ScatteredScene {
  ScatteredScene(int width, int height, float noise, int edge = 1 << 20)
      : states(width, height), grey(width, height) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const auto random = [&](std::uint32_t kind) {
          return static_cast<float>(
              2 * hashed(kind, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)) - 1);
        };
        SlantedPlane plane = truth(x, y, edge);
        plane.w += noise * kUnit * random(1);
        plane.wx += noise * kUnit * 0.05f * random(2);
        plane.wy += noise * kUnit * 0.05f * random(3);
        states(x, y) = {plane, 0.5f + 0.4f * random(4)};
        grey(x, y) = static_cast<std::uint8_t>((x < edge ? 90 : 110) + std::lround(3 * random(5)));
      }
  }

  static SlantedPlane truth(int x, int y, int edge) {
    return plane_at(x < edge ? SlantedPlane{1.0f, 0.002f, -0.001f} : SlantedPlane{0.6f, -0.001f, 0.001f}, x,
                    y);
  }

  PatchStates view() { return {states.view().data, states.width(), states.height(), states.pitch()}; }

  SlantedPlane agreed(int x, int y, float unit = kUnit) {
    return agreed_plane(view(), x, y, kSmoothTestRange, unit,
                        [&](int i, int j) { return static_cast<int>(grey(i, j)); });
  }

  Image<PatchState> states;
  Image<std::uint8_t> grey;
};

TEST(SmoothPlanes, AreThoseOfTheDescription) {
  ScatteredScene scene(41, 37, 0.5f, 25);
  std::vector<reference::SmoothPixel> pixels;
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 41; ++x) {
      const auto& [plane, cost] = scene.states(x, y);
      pixels.push_back({plane.w, plane.wx, plane.wy, cost, scene.grey(x, y)});
    }
  int compared = 0;
  for (int y = 0; y < 37; ++y)
    for (int x = 0; x < 41; ++x) {
      const auto expected = reference::smooth_plane(pixels, 41, 37, x, y, kUnit, 0.3, 2.2);
      ASSERT_TRUE(expected.has_value());
      if (expected->lead < 1e-4) continue;  // either candidate
      const SlantedPlane plane = scene.agreed(x, y);
      EXPECT_NEAR(plane.w, expected->w, 1e-5) << x << " " << y;
      EXPECT_NEAR(plane.wx, expected->wx, 1e-5) << x << " " << y;
      EXPECT_NEAR(plane.wy, expected->wy, 1e-5) << x << " " << y;
      ++compared;
    }
  EXPECT_GT(compared, 1400);
}

TEST(SmoothPlanes, AreNearerToTheSurfaceThanTheScatter) {
  ScatteredScene scene(80, 60, 0.3f);
  double before = 0, after = 0;
  for (int y = 12; y < 48; ++y)
    for (int x = 12; x < 68; ++x) {
      const double truth = ScatteredScene::truth(x, y, 100).w;
      before += std::pow(scene.states(x, y).plane.w - truth, 2);
      after += std::pow(scene.agreed(x, y).w - truth, 2);
    }
  EXPECT_LT(std::sqrt(after), 0.5 * std::sqrt(before));
}

TEST(SmoothPlanes, EndAtDepthEdges) {
  ScatteredScene scene(80, 40, 0.2f, 40);
  for (int y = 0; y < 40; ++y)
    for (const int x : {36, 38, 39, 40, 41, 44})
      EXPECT_NEAR(scene.agreed(x, y).w, ScatteredScene::truth(x, y, 40).w, 0.3f * kUnit) << x << " " << y;
}

/// A pixel off its surface returns to it; pixels of another grey level hardly count.
TEST(SmoothPlanes, FollowThePixelsOfTheSameGreyLevel) {
  ScatteredScene scene(60, 60, 0.0f);
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x) {
      const bool striped = x / 4 % 2 == 1;  // every second column of cells lies two pixels of parallax off
      scene.grey(x, y) = striped ? 200 : 100;
      if (striped) scene.states(x, y).plane.w += 2 * kUnit;
      scene.states(x, y).cost = 0.2f;
    }
  scene.states(28, 30).plane.w += kUnit;  // 28 / 4 is odd
  for (const int x : {26, 28}) {
    const float expected = ScatteredScene::truth(x, 30, 100).w + (x / 4 % 2 == 1 ? 2 * kUnit : 0.0f);
    EXPECT_NEAR(scene.agreed(x, 30).w, expected, 0.05f * kUnit) << x;
  }
}

TEST(SmoothPlanes, NoneWhereNothingMovesOrIsKnownOrOutsideTheRange) {
  ScatteredScene scene(40, 40, 0.1f);
  EXPECT_FALSE(std::isnan(scene.agreed(20, 20).w));
  EXPECT_TRUE(std::isnan(scene.agreed(20, 20, 0.0f).w));
  scene.states(20, 20).cost = kNoPatchCost;
  EXPECT_TRUE(std::isnan(scene.agreed(20, 20).w));
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x) scene.states(x, y).plane.w += 2;
  EXPECT_TRUE(std::isnan(scene.agreed(21, 20).w));
}

TEST(SmoothPlanes, OfOnePixelAreItsOwn) {
  ScatteredScene scene(1, 1, 0.1f);
  const SlantedPlane own = scene.states(0, 0).plane, plane = scene.agreed(0, 0);
  EXPECT_FLOAT_EQ(plane.w, own.w);
  EXPECT_FLOAT_EQ(plane.wx, own.wx);
  EXPECT_FLOAT_EQ(plane.wy, own.wy);
}

/// Rows in vectors, at all widths around theirs and all distances from the upper and lower borders.
TEST(SmoothPlanes, AreTheSameInVectorsOfEveryInstructionSet) {
  int sets = 0;
  for (const std::int64_t target : {HWY_SCALAR, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    ++sets;
    hwy::SetSupportedTargetsForTest(target);
    for (const int width : {1, 24, 25, 39, 40, 41, 71}) {
      ScatteredScene scene(width, 27, 0.4f, width / 2);
      scene.states(width / 2, 13).cost = kNoPatchCost;
      for (int y = 0; y < 27; ++y) {
        std::vector<float> units(width, kUnit);
        units[width / 3] = 0.0f;
        std::vector<SlantedPlane> planes(width, {-1.0f, -1.0f, -1.0f});
        agreed_planes(scene.view(), scene.grey.view(), kSmoothTestRange, y, units.data(), planes.data());
        for (int x = 0; x < width; ++x) {
          const SlantedPlane expected = scene.agreed(x, y, units[x]);
          ASSERT_EQ(std::memcmp(&planes[x], &expected, sizeof expected), 0)
              << hwy::TargetName(target) << " " << width << ": " << x << " " << y;
        }
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
  EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone";
}

/// Sums of a patch of the given variance.
ReferenceSums sums_of(int variance) {
  return {10, 0, 10 * variance};
}

TEST(SmoothPlanes, ReplaceOthersWherePhotosDoNotObject) {
  EXPECT_FLOAT_EQ(patch_variance({4, 8, 24}), 2.0f);  // mean square 6, mean 2
  EXPECT_FLOAT_EQ(max_smooth_cost(0.5f, sums_of(100)), 0.6f + 0.02f + 0.02f);
  EXPECT_FLOAT_EQ(max_smooth_cost(0.5f, sums_of(0)), 0.6f + 0.02f + 0.3f) << "the most";
  const PatchState own{{1.0f, 0.0f, 0.0f}, 0.5f};
  const SlantedPlane plane{1.1f, 0.0f, 0.0f};
  const auto w_of = [&](float cost) {
    return smoothed_state(own, plane, sums_of(100), [&](const SlantedPlane&, float) { return cost; }).plane.w;
  };
  EXPECT_EQ(w_of(0.63f), 1.1f);
  EXPECT_EQ(w_of(0.65f), 1.0f);
  const SlantedPlane none{kUnknown, 0, 0};
  EXPECT_EQ(smoothed_state(own, none, sums_of(0), [](const SlantedPlane&, float) { return 0.0f; }).plane.w,
            1.0f);
}

}  // namespace
}  // namespace recon
