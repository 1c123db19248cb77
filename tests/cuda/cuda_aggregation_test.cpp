#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "aggregate/aggregation.hpp"
#include "cuda/aggregation_calls.hpp"
#include "cuda/gpu_test.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_cases.hpp"
#include "reference/aggregation_reference.hpp"

namespace recon {
namespace {

using namespace reference;

/// Weights and sums in single precision, with the device's fast roots and exponentials.
constexpr double kWeightBound = 2e-5;

using test::run_adaptive_weight;
using test::run_constant_window;
using test::run_cross_arms;
using test::run_cross_based;

class CudaCrossArms : public test::GpuTest<> {};
class CudaConstantWindow : public test::GpuTest<> {};
class CudaAdaptiveWeight : public test::GpuTest<> {};
class CudaCrossBased : public test::GpuTest<> {};

struct Views {
  Image<Rgb8> reference, source;
  Image<Cross> reference_arms, source_arms;

  Views(const VolumeShape& shape, std::uint32_t seed, const CrossOptions& rule)
      : reference(random_colours(shape.width, shape.height, seed)),
        source(random_colours(shape.width, shape.height, seed + 1)),
        reference_arms(cross_arms(reference.view(), rule)),
        source_arms(cross_arms(source.view(), rule)) {}

  SupportViews<Cross> arms(bool two, PairSide side, int min_disparity) const {
    return {reference_arms.view(), two ? source_arms.view() : ImageView<const Cross>{}, side, min_disparity};
  }
  SupportViews<Rgb8> pixels(bool two, PairSide side, int min_disparity) const {
    return {reference.view(), two ? source.view() : ImageView<const Rgb8>{}, side, min_disparity};
  }
  ColourViews colours(bool two, PairSide side, int min_disparity) const {
    return {reference.view(), two ? source.view() : ImageView<const Rgb8>{}, side == PairSide::kLeft ? -1 : 1,
            min_disparity};
  }
};

/// What the CPU makes of a copy of the costs.
Volume<float> on_cpu(const SupportViews<Cross>& views, const CrossBasedOptions& options,
                     VolumeView<const float> costs) {
  Volume<float> copy(costs.width, costs.planes, costs.height);
  for (int y = 0; y < costs.height; ++y)
    for (int d = 0; d < costs.planes; ++d) std::copy_n(costs.row(y, d), costs.width, copy.view().row(y, d));
  cross_based(views, options, kMaxCost, copy.view());
  return copy;
}

TEST_F(CudaCrossArms, EqualTheCpus) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const CrossOptions& rule : {CrossOptions{}, CrossOptions{9, 4, 45, 25}, CrossOptions{1, 0, 20, 6},
                                     CrossOptions{256, 256, 256, 256}}) {
      const Image<Rgb8> image = random_colours(shape.width, shape.height, ++seed);
      const Image<Cross> expected = cross_arms(image.view(), rule);
      const Image<Cross> arms = run_cross_arms(image.view(), rule);
      for (int y = 0; y < shape.height; ++y)
        ASSERT_EQ(
            std::memcmp(arms.row(y), expected.row(y), sizeof(Cross) * static_cast<std::size_t>(shape.width)),
            0)
            << describe(shape) << ", reach " << rule.reach << ", row " << y;
    }
}

TEST_F(CudaConstantWindow, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const int radius : {0, 1, 2, 5, 16, 40, kMaxConstantRadius})
      for (const bool whole : {true, false}) {
        Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed, whole);
        for (const bool gaps : {false, true}) {
          if (gaps) cut_gaps(costs.view(), seed);
          const Volume<float> means = run_constant_window(costs.view(), radius, kMaxCost);
          const Volume<float> expected =
              reference::constant_window(in_units(costs.view()).view(), std::min(radius, 128));
          EXPECT_TRUE(whole ? near(means.view(), expected.view(), 0)
                            : near_means(means.view(), expected.view()))
              << describe(shape) << ", radius " << radius << ", gaps " << gaps;
        }
      }
}

/// Widths and radii for every way a row is cut into parts, of one warp's columns, of one thread block, of
/// several with their neighbours' columns, and a whole wide row; on either side of each seam. Radii above 63:
/// images smaller and larger than the window, of one pixel, one row and one column, wide rows in parts, and
/// several groups of planes.
TEST_F(CudaConstantWindow, SameBitsAsTheCpu) {
  struct Case {
    VolumeShape shape;
    int radius;
  };
  for (const Case& c :
       {Case{{128, 40, 3, 0}, 16},   Case{{129, 41, 3, 0}, 3},    Case{{517, 141, 3, 0}, 1},
        Case{{517, 141, 3, 0}, 32},  Case{{512, 39, 2, 0}, 63},   Case{{513, 39, 2, 0}, 63},
        Case{{1283, 37, 2, 0}, 16},  Case{{1283, 137, 2, 0}, 63}, Case{{1283, 137, 2, 0}, 64},
        Case{{1283, 37, 2, 0}, 64},  Case{{1283, 37, 2, 0}, 65},  Case{{4099, 9, 2, 0}, 63},
        Case{{4099, 9, 2, 0}, 512},  Case{{4099, 9, 2, 0}, 513},  Case{{450, 375, 7, 0}, 10},
        Case{{450, 375, 1, 0}, 150}, Case{{451, 375, 64, 0}, 16}, Case{{1, 1, 3, 0}, 64},
        Case{{1, 300, 3, 0}, 64},    Case{{300, 1, 3, 0}, 127},   Case{{63, 64, 3, 0}, 64},
        Case{{129, 128, 3, 0}, 64},  Case{{261, 259, 4, 0}, 100}, Case{{450, 375, 40, 0}, 127},
        Case{{3842, 3, 2, 0}, 127},  Case{{4097, 5, 2, 0}, 127},  Case{{9001, 3, 3, 0}, 127},
        Case{{4099, 9, 2, 0}, 1024}, Case{{4099, 9, 2, 0}, 1025}})
    for (const bool gaps : {false, true}) {
      Volume<float> costs = random_costs(c.shape.width, c.shape.planes, c.shape.height, 9);
      if (gaps) cut_gaps(costs.view(), 3);
      Volume<float> expected(c.shape.width, c.shape.planes, c.shape.height);
      constant_window(costs.view(), c.radius, kMaxCost, expected.view());
      EXPECT_TRUE(near(run_constant_window(costs.view(), c.radius, kMaxCost).view(), expected.view(), 0))
          << describe(c.shape) << ", radius " << c.radius << ", gaps " << gaps;
    }
}

/// Sums of nothing but zeros, and the greatest ones.
TEST_F(CudaConstantWindow, SameBitsAsTheCpuOfTheMinAndMaxSums) {
  const VolumeShape shape{300, 140, 4, 0};
  for (const float greatest : {2.0f, 256.0f, 0x1p60f, 0x1p-60f})
    for (const int radius : {0, 1, 7, 60, 63, 64, 127}) {
      Volume<float> costs(shape.width, shape.planes, shape.height);
      for (int y = 0; y < shape.height; ++y)
        for (int d = 0; d < shape.planes; ++d)
          for (int x = 0; x < shape.width; ++x)
            costs.view()(x, y, d) = d == 3 ? INFINITY : x < 140 ? greatest : x < 280 ? 0.0f : greatest / 7;
      Volume<float> expected(shape.width, shape.planes, shape.height);
      constant_window(costs.view(), radius, greatest, expected.view());
      EXPECT_TRUE(near(run_constant_window(costs.view(), radius, greatest).view(), expected.view(), 0))
          << "greatest " << greatest << ", radius " << radius;
    }
}

TEST_F(CudaConstantWindow, RefusesWhatDoesNotFit) {
  const Volume<float> costs = random_costs(8, 2, 4, 1), wide = random_costs(16385, 1, 1, 1);
  EXPECT_THROW(run_constant_window(costs.view(), -1, kMaxCost), std::logic_error);
  EXPECT_THROW(run_constant_window(costs.view(), kMaxConstantRadius + 1, kMaxCost), std::logic_error);
  EXPECT_THROW(run_constant_window(wide.view(), 1, kMaxCost), std::logic_error);
  EXPECT_THROW(run_constant_window(costs.view(), 1, 0), std::logic_error);
}

TEST_F(CudaAdaptiveWeight, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const int radius : {0, 1, 4, 17}) {
      if (radius == 17 && shape.planes > 7) continue;  // the textbook takes long
      const Views views(shape, seed += 10, {});
      Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed);
      for (const bool gaps : {false, true}) {
        if (gaps) cut_gaps(costs.view(), seed);
        for (const PairSide side : {PairSide::kLeft, PairSide::kRight})
          for (const bool two : {true, false})
            EXPECT_TRUE(near(run_adaptive_weight(views.pixels(two, side, shape.min_disparity),
                                                 {radius, 7, 11}, costs.view())
                                 .view(),
                             reference::adaptive_weight(views.colours(two, side, shape.min_disparity),
                                                        costs.view(), radius, 7, 11)
                                 .view(),
                             kWeightBound))
                << describe(shape) << ", radius " << radius << ", views " << 1 + two << ", gaps " << gaps;
      }
    }
}

/// Every shape of a thread block, several of them in every direction, and the greatest radius.
TEST_F(CudaAdaptiveWeight, NearTheCpu) {
  struct Case {
    VolumeShape shape;
    int radius;
  };
  for (const Case& c : {Case{{261, 41, 13, -2}, 16}, Case{{261, 41, 21, 0}, 16}, Case{{135, 29, 67, 3}, 9},
                        Case{{97, 71, 5, 0}, 64}, Case{{97, 35, 33, 0}, 64}, Case{{97, 35, 20, 0}, 64},
                        Case{{211, 37, 70, -3}, 18}})
    for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
      const Views views(c.shape, 5, {});
      const Volume<float> costs = random_costs(c.shape.width, c.shape.planes, c.shape.height, 9);
      const SupportViews<Rgb8> pixels = views.pixels(true, side, c.shape.min_disparity);
      Volume<float> expected(c.shape.width, c.shape.planes, c.shape.height);
      adaptive_weight(pixels, {c.radius, 5, 17.5f}, costs.view(), expected.view());
      EXPECT_TRUE(near(run_adaptive_weight(pixels, {c.radius, 5, 17.5f}, costs.view()).view(),
                       expected.view(), kWeightBound))
          << describe(c.shape) << ", radius " << c.radius;
    }
}

/// Whether a row has gaps is known of all planes of a thread block together.
TEST_F(CudaAdaptiveWeight, FindsTheOnlyGap) {
  struct Sample {
    int x, y, d;
  };
  const VolumeShape shape{97, 6, 70, -2};
  const Views views(shape, 5, {});
  for (const Sample& gap : {Sample{0, 0, 0}, Sample{96, 5, 69}, Sample{95, 2, 63}, Sample{96, 3, 64}})
    for (const PairSide side : {PairSide::kLeft, PairSide::kRight}) {
      Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, 9);
      costs.view()(gap.x, gap.y, gap.d) = INFINITY;
      EXPECT_TRUE(near(
          run_adaptive_weight(views.pixels(true, side, shape.min_disparity), {3, 7, 11}, costs.view()).view(),
          reference::adaptive_weight(views.colours(true, side, shape.min_disparity), costs.view(), 3, 7, 11)
              .view(),
          kWeightBound))
          << "gap at x " << gap.x << ", y " << gap.y << ", d " << gap.d;
    }
}

TEST_F(CudaAdaptiveWeight, RefusesWhatDoesNotFit) {
  const Image<Rgb8> image = random_colours(8, 4, 1), narrow = random_colours(7, 4, 1);
  const Volume<float> costs = random_costs(8, 2, 4, 1);
  const SupportViews<Rgb8> views{image.view(), image.view()};
  const auto run = [&](const SupportViews<Rgb8>& v, const AdaptiveWeightOptions& options) {
    run_adaptive_weight(v, options, costs.view());
  };
  EXPECT_THROW(run({narrow.view(), {}}, {}), std::logic_error);
  EXPECT_THROW(run(views, {-1, 5, 5}), std::logic_error);
  EXPECT_THROW(run(views, {kMaxAdaptiveRadius + 1, 5, 5}), std::logic_error);
  EXPECT_THROW(run(views, {3, 0, 5}), std::logic_error);
  EXPECT_THROW(run(views, {3, 5, NAN}), std::logic_error);
}

TEST_F(CudaCrossBased, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  const CrossOptions rule{9, 4, 45, 25};
  for (const VolumeShape& shape : kVolumeShapes) {
    const Views views(shape, seed += 10, rule);
    for (const int iterations : {0, 1, 2, 4})
      for (const PairSide side : {PairSide::kLeft, PairSide::kRight})
        for (const bool two : {true, false}) {
          const bool whole = iterations <= 1;
          const Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed, whole);
          const Volume<float> expected = reference::cross_based(
              views.colours(two, side, shape.min_disparity), in_units(costs.view()).view(),
              {rule.reach, rule.near_reach, rule.colour, rule.strict_colour}, iterations);
          for (const int longest : {rule.reach - 1, 255}) {
            const Volume<float> means = run_cross_based(views.arms(two, side, shape.min_disparity), longest,
                                                        {iterations}, kMaxCost, costs.view());
            EXPECT_TRUE(whole ? near(means.view(), expected.view(), 0)
                              : near_means(means.view(), expected.view(), iterations))
                << describe(shape) << ", iterations " << iterations << ", views " << 1 + two << ", longest "
                << longest;
          }
        }
  }
}

TEST_F(CudaCrossBased, GapsDoNotCountAsInTheTextbook) {
  std::uint32_t seed = 50;
  const CrossOptions rule{9, 4, 45, 25};
  for (const VolumeShape& shape : kVolumeShapes) {
    const Views views(shape, seed += 10, rule);
    Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed);
    cut_gaps(costs.view(), seed);
    for (const bool two : {true, false})
      for (const int iterations : {1, 4}) {
        const Volume<float> expected = reference::cross_based(
            views.colours(two, PairSide::kLeft, shape.min_disparity), in_units(costs.view()).view(),
            {rule.reach, rule.near_reach, rule.colour, rule.strict_colour}, iterations);
        for (const int longest : {rule.reach - 1, 255})
          EXPECT_TRUE(near_means(run_cross_based(views.arms(two, PairSide::kLeft, shape.min_disparity),
                                                 longest, {iterations}, kMaxCost, costs.view())
                                     .view(),
                                 expected.view(), iterations))
              << describe(shape) << ", iterations " << iterations << ", views " << 1 + two << ", longest "
              << longest;
      }
  }
}

/// Larger than a thread block in every direction, arms from none to the longest.
TEST_F(CudaCrossBased, SameBitsAsTheCpu) {
  const VolumeShape shape{517, 141, 5, -2};
  for (const int reach : {6, 17, 34, 64, 90, 256}) {
    const Views views(shape, 7, {reach, reach / 2, 60, 30});
    for (const bool gaps : {false, true}) {
      Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, 9);
      if (gaps) cut_gaps(costs.view(), 3);
      for (const bool two : {true, false})
        for (const int iterations : {1, 2, 3}) {
          const SupportViews<Cross> arms = views.arms(two, PairSide::kLeft, shape.min_disparity);
          const Volume<float> expected = on_cpu(arms, {iterations}, costs.view());
          EXPECT_TRUE(near(run_cross_based(arms, reach - 1, {iterations}, kMaxCost, costs.view()).view(),
                           expected.view(), 0))
              << "reach " << reach << ", gaps " << gaps << ", views " << 1 + two << ", iterations "
              << iterations;
        }
    }
  }
}

/// Strips of every width, a warp's columns or eight warps', as volumes of these sizes are cut.
TEST_F(CudaCrossBased, SameBitsAsTheCpuInWideStrips) {
  struct Case {
    VolumeShape shape;
    int reach;
  };
  for (const Case& c :
       {Case{{450, 375, 64, 0}, 17}, Case{{450, 375, 64, 0}, 11}, Case{{200, 100, 16, -2}, 1},
        Case{{1280, 230, 40, 0}, 11}, Case{{961, 517, 33, 0}, 6}, Case{{239, 999, 40, 0}, 12}}) {
    const Views views(c.shape, 7, {c.reach, c.reach, 60, 60});
    Volume<float> costs = random_costs(c.shape.width, c.shape.planes, c.shape.height, 9);
    costs.view()(c.shape.width - 1, c.shape.height - 1, 3) = INFINITY;
    for (const int iterations : {1, 3}) {
      const SupportViews<Cross> arms = views.arms(true, PairSide::kLeft, c.shape.min_disparity);
      const Volume<float> expected = on_cpu(arms, {iterations}, costs.view());
      EXPECT_TRUE(near(run_cross_based(arms, c.reach - 1, {iterations}, kMaxCost, costs.view()).view(),
                       expected.view(), 0))
          << describe(c.shape) << ", reach " << c.reach << ", iterations " << iterations;
    }
  }
}

/// Supports of whole squares of the greatest cost, on either side of what sums of 32 bits hold.
TEST_F(CudaCrossBased, SameBitsAsTheCpuOfTheMaxSums) {
  const Image<Rgb8> flat(300, 140, Rgb8{80, 90, 100});
  for (const int longest : {1, 60, 63, 64, 90}) {
    const Image<Cross> arms = cross_arms(flat.view(), {longest + 1, longest + 1, 20, 6});
    for (const float greatest : {2.0f, 256.0f}) {
      Volume<float> costs(300, 3, 140), expected(300, 3, 140);
      for (int y = 0; y < 140; ++y)
        for (int d = 0; d < 3; ++d)
          for (int x = 0; x < 300; ++x)
            costs.view()(x, y, d) = expected.view()(x, y, d) = x < 200 ? greatest : greatest / 7;
      cross_based({arms.view(), {}}, {2}, greatest, expected.view());
      EXPECT_TRUE(near(run_cross_based({arms.view(), {}}, longest, {2}, greatest, costs.view()).view(),
                       expected.view(), 0))
          << "longest " << longest << ", greatest " << greatest;
    }
  }
}

TEST_F(CudaCrossBased, RefusesWhatDoesNotFit) {
  const Image<Cross> arms(8, 4, Cross{}), narrow(7, 4, Cross{});
  const Volume<float> costs = random_costs(8, 2, 4, 1);
  const auto run = [&](const SupportViews<Cross>& views, int longest, int iterations) {
    run_cross_based(views, longest, {iterations}, kMaxCost, costs.view());
  };
  EXPECT_THROW(run({narrow.view(), {}}, 33, 1), std::logic_error);
  EXPECT_THROW(run({arms.view(), narrow.view()}, 33, 1), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 33, -1), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 33, 65), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 256, 1), std::logic_error);
  EXPECT_THROW(run_cross_based({arms.view(), {}}, 33, {1}, 0, costs.view()), std::logic_error);
}

}  // namespace
}  // namespace recon
