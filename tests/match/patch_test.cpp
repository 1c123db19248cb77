// The cost of slanted patches: the step against the textbook, the patches of lanes against the step.

#include "match/patch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/patch_test.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "match/patch_lanes-inl.hpp"

#ifndef RECON_PATCH_TEST_ONCE
#define RECON_PATCH_TEST_ONCE
namespace recon {

/// What is compared with patches of a row.
struct RowOfPatches {
  ImageView<const std::uint8_t> image;
  int x, y, stride, count;
  const SlantedPlane* planes;  ///< by lane
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon {
namespace HWY_NAMESPACE {

PlaneLanes planes_of(const RowOfPatches& row) {
  float numbers[3][kMaxPatchLanes];
  std::fill_n(numbers[0], 3 * kMaxPatchLanes, kUnknown);
  for (int i = 0; i < std::min(row.count, patch_lanes()); ++i)
    numbers[0][i] = row.planes[i].w, numbers[1][i] = row.planes[i].wx, numbers[2][i] = row.planes[i].wy;
  const F32 df;
  return {hn::LoadU(df, numbers[0]), hn::LoadU(df, numbers[1]), hn::LoadU(df, numbers[2])};
}

/// The costs of the planes of the first lanes in one source; returns their number.
int costs_of(const RowOfPatches& row, const PatchWeights& weights, const SourceWarp& warp,
             const SampledImage& source, float* costs) {
  PatchLanes patches(weights);
  patches.load(row.image, row.x, row.y, row.stride);
  hn::StoreU(patches.costs(one_source(warp, source), planes_of(row)), F32(), costs);
  return std::min(row.count, patch_lanes());
}

/// The same where lane i has the pixel of lane pixels[i] and the source with index sources[pixels[i]].
int mixed_costs_of(const RowOfPatches& row, const PatchWeights& weights, const PatchSourceTable& table,
                   const std::int32_t* pixels, const std::int32_t* sources, float* costs) {
  const I32 di;
  PatchLanes patches(weights);
  patches.load(row.image, row.x, row.y, row.stride);
  std::int32_t inside[kMaxPatchLanes];
  for (int i = 0; i < patch_lanes(); ++i) inside[i] = pixels[i] % std::min(row.count, patch_lanes());
  const PixelLanes lanes = hn::IndicesFromVec(di, hn::LoadU(di, inside));
  const SourceLanes own = looked_up(sources_of(table, hn::LoadU(di, sources)), lanes);
  hn::StoreU(patches.costs(own, planes_of(row), lanes), F32(), costs);
  return std::min(row.count, patch_lanes());
}

/// The sums of the reference's patches; returns their number.
int sums_of(const RowOfPatches& row, const PatchWeights& weights, ReferenceSums* sums) {
  PatchLanes patches(weights);
  patches.load(row.image, row.x, row.y, row.stride);
  for (int i = 0; i < patch_lanes(); ++i) sums[i] = patches.sums(i);
  return std::min(row.count, patch_lanes());
}

}  // namespace HWY_NAMESPACE
}  // namespace recon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>

#include "reference/patch_reference.hpp"
#include "reference/sweep_problems.hpp"
#include "reference/textured_plane.hpp"

namespace recon {

HWY_EXPORT(costs_of);
HWY_EXPORT(mixed_costs_of);
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
      if (!source.contains(x0, y0)) ADD_FAILURE() << u << " " << v;
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

/// The sums of the reference by the step.
ReferenceSums reference_sums(ImageOf8 image, const PatchWeights& weights, int x, int y) {
  ReferenceSums sums;
  const int radius = weights.radius();
  for (int dy = -radius, k = 0; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx, ++k) {
      if (!image.contains(x + dx, y + dy)) continue;
      const int r = image(x + dx, y + dy) - image(x, y), w = weights.at(k, std::abs(r));
      sums.weight += w, sums.r += w * r, sums.rr += w * r * r;
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

/// Photos of black, white and levels between, a third each, and warps of which some move by whole pixels:
/// their patches touch the border of the source.
class PatchLanesOracle : public testing::Test {
 protected:
  static constexpr int kSources = 4;

  PatchLanesOracle() : image_(random_image(45, 5)) {
    for (int s = 0; s < kSources; ++s) {
      pixels_.push_back(random_image(41 + 9 * s, 15 - 2 * s));
      const auto small = [&] { return static_cast<float>(drawn(position_, -0.1, 0.1)); };
      const float moved = static_cast<float>(s % 2) * 256.0f;  // the others are turned, too
      warps_.push_back(moved > 0 ? SourceWarp{{256, 0, -moved, 0, 256, 0, 0, 0, 1}, {512, 0, 0}}
                                 : SourceWarp{{256 * (1 + small()), 256 * small(), 300, 256 * small(), 256,
                                               -200, 0.01f * small(), 0.01f * small(), 1},
                                              {-900, 700, 0.1f}});
    }
    for (const Image<std::uint8_t>& image : pixels_) sampled_.emplace_back(image.view());
    for (SlantedPlane& plane : planes_) {
      const double steepest = std::pow(10.0, drawn(position_, -4, 0));
      const auto slope = [&] { return static_cast<float>(drawn(position_, -steepest, steepest)); };
      plane = {static_cast<float>(std::floor(drawn(position_, 0, 4)) / 2), slope(), slope()};
      if (drawn(position_, 0, 3) < 1) plane.wx = plane.wy = 0;
    }
    planes_[3].w = planes_[8].wx = std::numeric_limits<float>::quiet_NaN();
    planes_[5].wy = planes_[11].w = std::numeric_limits<float>::infinity();
  }

  Image<std::uint8_t> random_image(int width, int height) {
    Image<std::uint8_t> image(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        image(x, y) = static_cast<std::uint8_t>(std::clamp(drawn(position_, -200, 455), 0.0, 255.0));
    return image;
  }

  float expected(const PatchWeights& weights, int x, int y, int source, const SlantedPlane& plane) const {
    const ImageOf8 pixels = pixels_[source].view(), image = image_.view();
    const PatchWarp warp =
        patch_warp(warps_[source], x, y, plane, weights.radius(), pixels.width, pixels.height);
    if (!warp.visible) return -1;
    return patch_cost(reference_sums(image, weights, x, y), step_sums(image, weights, x, y, pixels, warp));
  }

  /// Calls body(row, weights, target) for blocks of all pixels of the image in every instruction set.
  template <class Body>
  void for_blocks(const Body& body) {
    int sets = 0;
    for (const std::int64_t target : {HWY_SCALAR, HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
      if ((hwy::SupportedTargets() & target) == 0) continue;
      ++sets;
      hwy::SetSupportedTargetsForTest(target);
      for (int radius = 1; radius <= kMaxPatchRadius; ++radius)
        for (const int stride : {1, 2})
          for (int y = 0; y < image_.height(); ++y)
            for (int x = y % 2; x < image_.width();) {
              const RowOfPatches row = {std::as_const(image_).view(),
                                        x,
                                        y,
                                        stride,
                                        (image_.width() - x + stride - 1) / stride,
                                        planes_};
              x += stride * body(row, PatchWeights(radius), hwy::TargetName(target));
              if (HasFatalFailure()) return;
            }
      hwy::SetSupportedTargetsForTest(0);
    }
    EXPECT_GE(sets, 2) << "one instruction set alone";
  }

  std::uint32_t position_ = 0;
  Image<std::uint8_t> image_;
  std::vector<Image<std::uint8_t>> pixels_;
  std::vector<SampledImage> sampled_;
  std::vector<SourceWarp> warps_;
  SlantedPlane planes_[64];
};

TEST_F(PatchLanesOracle, SumsOfTheReferenceEqualTheStep) {
  for_blocks([&](const auto& row, const PatchWeights& weights, const char* target) {
    ReferenceSums sums[64];
    const int count = HWY_DYNAMIC_DISPATCH(sums_of)(row, weights, sums);
    for (int i = 0; i < count; ++i) {
      const ReferenceSums own = reference_sums(row.image, weights, row.x + i * row.stride, row.y);
      EXPECT_EQ(sums[i].weight, own.weight) << target << " " << row.x << " " << i;
      EXPECT_EQ(sums[i].r, own.r) << target << " " << row.x << " " << i;
      EXPECT_EQ(sums[i].rr, own.rr) << target << " " << row.x << " " << i;
    }
    return count;
  });
}

TEST_F(PatchLanesOracle, CostsInOneSourceEqualTheStep) {
  int visible = 0, invisible = 0;
  for_blocks([&](const auto& row, const PatchWeights& weights, const char* target) {
    int count = 0;
    for (int s = 0; s < 2; ++s) {
      float costs[64];
      count = HWY_DYNAMIC_DISPATCH(costs_of)(row, weights, warps_[s], sampled_[s], costs);
      for (int i = 0; i < count; ++i) {
        const int x = row.x + i * row.stride;
        EXPECT_EQ(costs[i], expected(weights, x, row.y, s, planes_[i])) << target << " " << s << " " << x;
        (costs[i] < 0 ? invisible : visible)++;
      }
    }
    return count;
  });
  EXPECT_GT(visible, 1000);
  EXPECT_GT(invisible, 1000);
}

TEST_F(PatchLanesOracle, CostsInTheSourcesOfPixelsInOtherLanesEqualTheStep) {
  const PatchSourceTable table(
      kSources, [&](int s) -> const SourceWarp& { return warps_[s]; },
      [&](int s) -> const SampledImage& { return sampled_[s]; });
  ASSERT_TRUE(table.near);
  std::int32_t pixels[64], sources[64];
  for (int i = 0; i < 64; ++i)
    pixels[i] = static_cast<std::int32_t>(drawn(position_, 0, 64)), sources[i] = i * 7 % kSources;
  int visible = 0;
  for_blocks([&](const auto& row, const PatchWeights& weights, const char* target) {
    float costs[64];
    const int count = HWY_DYNAMIC_DISPATCH(mixed_costs_of)(row, weights, table, pixels, sources, costs);
    for (int i = 0; i < count; ++i) {
      const int lane = pixels[i] % count, x = row.x + lane * row.stride;
      EXPECT_EQ(costs[i], expected(weights, x, row.y, sources[lane], planes_[i])) << target << " " << x;
      visible += costs[i] >= 0;
    }
    return count;
  });
  EXPECT_GT(visible, 300);
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
    ASSERT_NE(reserved, MAP_FAILED);
    auto* const pages = static_cast<std::uint8_t*>(reserved);
    sampled.emplace_back(image.view(), reinterpret_cast<std::uint16_t*>(pages));
    sampled.emplace_back(image.view(), reinterpret_cast<std::uint16_t*>(pages + (far ? kFar : kFar / 2)));
    const PatchSourceTable table(
        2, [&](int) -> const SourceWarp& { return warp; },
        [&](int s) -> const SampledImage& { return sampled[s]; });
    EXPECT_EQ(table.near, !far);
    if (table.near) {
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
#endif
