// The cost of slanted patches: the step against the textbook, the SIMD sums against the step.

#include "match/patch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/patch_test.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "match/patch_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon {
namespace HWY_NAMESPACE {

PatchSums sums_of(const ReferencePatch& patch, const SampledImage& source, const PatchWarp& warp) {
  return patch_sums(patch, source, warp);
}

}  // namespace HWY_NAMESPACE
}  // namespace recon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>

#include "reference/patch_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon {

HWY_EXPORT(sums_of);

namespace {

using reference::compare_patch;
using reference::hashed;
using reference::PatchMap;
using reference::TextbookPatch;
using reference::TextbookPlane;
using reference::TexturedPlane;

using ImageOf8 = ImageView<const std::uint8_t>;

/// A number in [low, high) from a position in a sequence.
double drawn(std::uint32_t& position, double low, double high) {
  return low + (high - low) * hashed(71, position++);
}

/// The sums by the step, sample after sample.
PatchSums step_sums(ImageOf8 image, const PatchWeights& weights, int x, int y, ImageOf8 source,
                    const PatchWarp& warp) {
  PatchSums sums;
  const int radius = weights.radius(), centre = image(x, y);
  for (int dy = -radius, k = 0; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx, ++k) {
      const int u = sample_position(warp.u, dx, dy, warp.ux, warp.uy);
      const int v = sample_position(warp.v, dx, dy, warp.vx, warp.vy);
      const int x0 = u >> kSubpixelBits, y0 = v >> kSubpixelBits;
      EXPECT_TRUE(source.contains(x0, y0)) << u << " " << v;
      const int x1 = std::min(x0 + 1, source.width - 1), y1 = std::min(y0 + 1, source.height - 1);
      const int q = quarter_bilinear(source(x0, y0), source(x1, y0), source(x0, y1), source(x1, y1),
                                     static_cast<std::uint32_t>(u % kSubpixels),
                                     static_cast<std::uint32_t>(v % kSubpixels));
      if (!image.contains(x + dx, y + dy)) continue;
      const int r = image(x + dx, y + dy) - centre;
      add_sample(sums, weights.at(k, std::abs(r)), r, q - 4 * centre);
    }
  return sums;
}

float cost_of(const PosedImage& reference, const PosedImage& source, int x, int y, const SlantedPlane& plane,
              const PatchWeights& weights, bool& visible) {
  const SourceWarp warp =
      make_source_warp(reference.camera, reference.cam_from_world, source.camera, source.cam_from_world);
  const PatchWarp patch =
      patch_warp(warp, x, y, plane, weights.radius(), source.camera.width, source.camera.height);
  visible = patch.visible;
  if (!visible) return 0;
  ReferencePatch loaded(weights.radius());
  loaded.load(reference.channel[0], weights, x, y);
  return patch_cost(loaded.sums, step_sums(reference.channel[0], weights, x, y, source.channel[0], patch));
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

/// Every instruction set's sums are those of the step: at both ends of the positions that a visible patch can
/// have and in between, for all pixels of an image smaller than a patch, for the largest contrasts.
TEST(PatchSums, EqualTheStepInEveryInstructionSet) {
  Image<std::uint8_t> image(9, 8), pixels(13, 11);
  std::uint32_t position = 0;
  for (Image<std::uint8_t>* it : {&image, &pixels})
    for (int y = 0; y < it->height(); ++y)
      for (int x = 0; x < it->width(); ++x) {
        const double level = drawn(position, -200, 455);  // a third each: black, white, between
        (*it)(x, y) = static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0));
      }
  const SampledImage source(std::as_const(pixels).view());
  int sets = 0;
  for (const std::int64_t target : {HWY_SCALAR, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    ++sets;
    hwy::SetSupportedTargetsForTest(target);
    for (int radius = 1; radius <= kMaxPatchRadius; ++radius) {
      const PatchWeights weights(radius);
      ReferencePatch patch(radius);
      const auto slope = [&](int side) {
        const int largest = (side - 1) * kPatchSubpixels / (4 * radius);
        return static_cast<int>(drawn(position, -largest, largest + 1));
      };
      const auto origin = [&](int side, int reach, int where) {
        const int last = (side - 1) * kPatchSubpixels - reach;
        return where == 0 ? reach : where == 1 ? last : static_cast<int>(drawn(position, reach, last + 1));
      };
      for (int i = 0; i < 9 * 8 * 9; ++i) {
        const int x = i % 9, y = i / 9 % 8, where = i / 72;
        PatchWarp warp = {0, 0, slope(13), slope(13), slope(11), slope(11), true};
        warp.u = origin(13, radius * (std::abs(warp.ux) + std::abs(warp.uy)), where % 3);
        warp.v = origin(11, radius * (std::abs(warp.vx) + std::abs(warp.vy)), where / 3);
        patch.load(std::as_const(image).view(), weights, x, y);
        const PatchSums found = HWY_DYNAMIC_DISPATCH(sums_of)(patch, source, warp);
        const PatchSums expected =
            step_sums(std::as_const(image).view(), weights, x, y, std::as_const(pixels).view(), warp);
        ASSERT_EQ(found.q, expected.q) << hwy::TargetName(target) << " " << x << " " << y << " " << where;
        ASSERT_EQ(found.qq, expected.qq) << hwy::TargetName(target) << " " << x << " " << y << " " << where;
        ASSERT_EQ(found.qr, expected.qr) << hwy::TargetName(target) << " " << x << " " << y << " " << where;
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
  EXPECT_GE(sets, 2) << "one instruction set alone";
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
#endif
