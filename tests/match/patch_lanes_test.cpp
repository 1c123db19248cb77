// The cost of slanted patches: the patches of lanes against the step.

#include "match/patch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/patch_lanes_test.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "match/patch_lanes-inl.hpp"

#ifndef RECON_PATCH_LANES_TEST_ONCE
#define RECON_PATCH_LANES_TEST_ONCE
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

#include <cmath>

#include "match/patch_by_step.hpp"
#include "steps/instruction_sets.hpp"

namespace recon {

HWY_EXPORT(costs_of);
HWY_EXPORT(mixed_costs_of);
HWY_EXPORT(sums_of);

namespace {

using reference::drawn;
using reference::ImageOf8;
using reference::reference_sums;
using reference::step_sums;

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
    std::size_t bytes = 0;
    for (const Image<std::uint8_t>& image : pixels_)
      bytes += SampledImage::bytes(image.width(), image.height());
    // In one piece of memory: allocations may lie too far apart for lanes with sources of their own.
    memory_ = AlignedBuffer<std::uint16_t>(bytes / 2);
    std::uint16_t* next = memory_.data();
    for (const Image<std::uint8_t>& image : pixels_) {
      sampled_.emplace_back(image.view(), next);
      next += SampledImage::bytes(image.width(), image.height()) / 2;
    }
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
    EXPECT_GE(sets, kLeastInstructionSets) << "one instruction set alone";
  }

  std::uint32_t position_ = 0;
  Image<std::uint8_t> image_;
  std::vector<Image<std::uint8_t>> pixels_;
  AlignedBuffer<std::uint16_t> memory_;
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
  EXPECT_GT(visible, 500);
  EXPECT_GT(invisible, 500);
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

}  // namespace
}  // namespace recon
#endif
