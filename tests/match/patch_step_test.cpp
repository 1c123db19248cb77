// The cost of slanted patches: the step against the textbook, and what the step reads.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <limits>

#include "match/patch.hpp"
#include "match/patch_by_step.hpp"
#include "reference/patch_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon {
namespace {

using reference::compare_patch;
using reference::drawn;
using reference::hashed;
using reference::PatchMap;
using reference::reference_sums;
using reference::step_sums;
using reference::TextbookPatch;
using reference::TextbookPlane;
using reference::TexturedPlane;

float cost_of(const PosedImage& reference, const PosedImage& source, int x, int y, const SlantedPlane& plane,
              const PatchWeights& weights, bool& visible) {
  const SourceWarp warp =
      make_source_warp(reference.camera, reference.cam_from_world, source.camera, source.cam_from_world);
  const PatchWarp patch =
      patch_warp(warp, x, y, plane, weights.radius(), source.camera.width, source.camera.height);
  visible = patch.visible;
  if (!visible) return 0;
  return patch_cost(reference_sums(reference.channel[0], weights, x, y),
                    step_sums(reference.channel[0], weights, x, y, source.channel[0], patch));
}

struct PatchCase {
  const char* name;
  reference::ProblemShape shape;
  int radius;
  int min_visible;  ///< patches that the case has to compare
};

void PrintTo(const PatchCase& c, std::ostream* out) {
  *out << c.name;
}

class PatchOracle : public testing::TestWithParam<PatchCase> {};

/// Samples lie within 1/512 pixel of the textbook's in u and v, where the images have up to 80 levels per
/// pixel, and are rounded to 1/4 level: an error of at most 0.4 levels in samples that vary by tens.
TEST_P(PatchOracle, CostsEqualTheTextbook) {
  const auto owned = reference::random_problem(GetParam().shape, {});
  const PosedImage& view = owned.problem.reference;
  const PatchWeights weights(GetParam().radius);
  std::uint32_t position = 0;
  int visible = 0, invisible = 0;
  double difference = 0;
  for (int y = 0; y < view.camera.height; ++y)
    for (int x = 0; x < view.camera.width; ++x)
      for (const PosedImage& source : owned.problem.sources) {
        const double steepest = std::pow(10.0, drawn(position, -4, 0));  // huge slopes too
        const SlantedPlane plane = {static_cast<float>(drawn(position, 0.2, 1.2)),
                                    static_cast<float>(drawn(position, -steepest, steepest)),
                                    static_cast<float>(drawn(position, -steepest, steepest))};
        const TextbookPatch expected = compare_patch(view, source, x, y, {plane.w, plane.wx, plane.wy},
                                                     weights.radius(), PatchMap::kAffine);
        bool seen = false;
        const double cost = cost_of(view, source, x, y, plane, weights, seen);
        if (std::abs(expected.margin) < 0.01 || std::abs(expected.magnification - 8) < 0.01) continue;
        ASSERT_EQ(seen, expected.margin > 0 && expected.magnification < 8) << x << " " << y;
        (seen ? visible : invisible)++;
        if (!seen) continue;
        EXPECT_NEAR(cost, expected.cost, 0.02) << x << " " << y;
        difference += std::abs(cost - expected.cost);
      }
  EXPECT_GE(visible, GetParam().min_visible);
  EXPECT_GT(invisible, 0);
  EXPECT_LE(difference, 2e-3 * visible);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PatchOracle,
    testing::Values(PatchCase{"radius_3", {41, 23, 37, 29, 3, 2}, 3, 300},
                    PatchCase{"radius_1_turned", {31, 17, 37, 23, 3, 2, 1, 60, 4}, 1, 200},
                    PatchCase{"radius_2_behind", {21, 33, 37, 23, 4, 2, 1, 150, 9}, 2, 50},
                    PatchCase{"smaller_than_the_patch", {4, 3, 30, 60, 4, 2, 1, 4, 3}, 2, 5},
                    PatchCase{"source_smaller_than_the_patch", {29, 19, 6, 5, 3, 2, 1, 4, 3}, 3, 0},
                    PatchCase{"source_of_one_pixel", {9, 9, 1, 1, 2, 2, 1, 0}, 1, 0}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(PatchWarp, IsNotVisibleAtValuesThatAreNoNumbers) {
  const auto owned = reference::random_problem({}, {});
  const PatchWeights weights(3);
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const SlantedPlane& plane :
         {SlantedPlane{wrong, 0, 0}, SlantedPlane{0.5f, wrong, 0}, SlantedPlane{0.5f, 0, -wrong}}) {
      bool visible = true;
      cost_of(owned.problem.reference, owned.problem.sources[0], 15, 8, plane, weights, visible);
      EXPECT_FALSE(visible) << plane.w << " " << plane.wx << " " << plane.wy;
    }
}

TEST(PatchSourceTable, IsNotNearWhereImagesLieFarApart) {
  const Image<std::uint8_t> image(5, 4, 7);
  const SourceWarp warp{};
  constexpr std::uintptr_t kFar = std::uintptr_t{5} << 30;
  for (const bool far : {false, true}) {
    std::vector<SampledImage> sampled;
    // Pages that are reserved and not touched but for the image.
    void* reserved =
        mmap(nullptr, 2 * kFar, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) GTEST_SKIP() << "no 10 GiB of addresses to reserve";
    auto* const pages = static_cast<std::uint8_t*>(reserved);
    sampled.emplace_back(image.view(), reinterpret_cast<std::uint16_t*>(pages));
    sampled.emplace_back(image.view(), reinterpret_cast<std::uint16_t*>(pages + (far ? kFar : kFar / 2)));
    const PatchSourceTable table(
        2, [&](int) -> const SourceWarp& { return warp; },
        [&](int s) -> const SampledImage& { return sampled[s]; });
    EXPECT_EQ(table.near, !far);
    if (table.near) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.base) % 4, 0u);
      for (int s = 0; s < 2; ++s)
        EXPECT_EQ(table.base + table.offset[s], reinterpret_cast<const std::uint8_t*>(sampled[s].data()));
    }
    munmap(reserved, 2 * kFar);
  }
}

TEST(PatchSums, HoldTheLargestContrast) {
  // All samples but the centre at the other end of the levels, with the largest weight.
  ReferenceSums a;
  PatchSums b;
  for (int k = 0; k < 49; ++k) {
    const int r = k == 24 ? 0 : 255;
    a.weight += kMaxPatchWeight, a.r += kMaxPatchWeight * r, a.rr += kMaxPatchWeight * r * r;
    add_sample(b, kMaxPatchWeight, r, 4 * r);
  }
  EXPECT_EQ(b.qq, 48ll * kMaxPatchWeight * 1020 * 1020);
  EXPECT_NEAR(patch_cost(a, b), 0, 1e-6);
  b.q = -b.q, b.qr = -b.qr;
  EXPECT_NEAR(patch_cost(a, b), 2, 1e-6);
}

TEST(PatchCost, IsLowestAtThePlane) {
  for (const TextbookPlane& truth : {TextbookPlane{1, 0, 0}, TextbookPlane{1, 0.011, -0.008}}) {
    const TexturedPlane scene = reference::textured_plane(72, 56, truth);
    const PatchWeights weights(3);
    const double pixel = 1 / scene.parallax();
    int pixels = 0, worse = 0;
    double at_plane = 0, exact = 0, fronto_parallel = 0;
    for (int y = 12; y < 44; y += 3)
      for (int x = 12; x < 60; x += 3) {
        const TextbookPlane plane = scene.at(x, y);
        const auto cost = [&](double offset, double slope) {
          bool visible = false;
          const SlantedPlane moved = {static_cast<float>(plane.w + offset),
                                      static_cast<float>(slope * plane.wx),
                                      static_cast<float>(slope * plane.wy)};
          const double result = cost_of(scene.reference, scene.sources[0], x, y, moved, weights, visible);
          EXPECT_TRUE(visible) << x << " " << y;
          return result;
        };
        ++pixels;
        at_plane += cost(0, 1), fronto_parallel += cost(0, 0);
        exact += compare_patch(scene.reference, scene.sources[0], x, y, plane, 3, PatchMap::kExact).cost;
        worse += cost(pixel, 1) > cost(0, 1) + 0.02 && cost(-pixel, 1) > cost(0, 1) + 0.02;
      }
    // What is left is the interpolation and the rounding of the levels; the affine map adds next to nothing.
    EXPECT_LE(exact, 0.01 * pixels);
    EXPECT_LE(at_plane, exact + 0.001 * pixels);
    EXPECT_GE(worse, 0.97 * pixels);
    if (truth.wx != 0) {
      EXPECT_GE(fronto_parallel, 3 * at_plane);
    }
  }
}

TEST(Halved, IsTheMeanOfFourPixels) {
  for (const auto& [width, height] : {std::pair{8, 6}, {7, 5}, {1, 1}, {1, 4}, {5, 1}, {2, 3}}) {
    Image<std::uint8_t> image(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        image(x, y) = static_cast<std::uint8_t>(
            256 * hashed(3, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)));
    const Image<std::uint8_t> half = halved(std::as_const(image).view());
    ASSERT_EQ(half.width(), (width + 1) / 2);
    ASSERT_EQ(half.height(), (height + 1) / 2);
    for (int y = 0; y < half.height(); ++y)
      for (int x = 0; x < half.width(); ++x) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) {
          const int px = 2 * x + k % 2, py = 2 * y + k / 2;
          sum += image(px < width ? px : width - 1, py < height ? py : height - 1);
        }
        EXPECT_EQ(half(x, y), std::floor(sum / 4 + 0.5)) << width << " " << x << " " << y;
      }
  }
}

TEST(Halved, CamerasSeePointsAtHalfTheCoordinates) {
  const Pinhole camera = {7, 5, 6.5, 6.25, 3.25, 2.75}, half = halved(camera);
  EXPECT_EQ(half.width, 4);
  EXPECT_EQ(half.height, 3);
  const Vec3d point = {0.3, -0.2, 1.7};
  EXPECT_DOUBLE_EQ(half.project(point).x, camera.project(point).x / 2);
  EXPECT_DOUBLE_EQ(half.project(point).y, camera.project(point).y / 2);
}

}  // namespace
}  // namespace recon
