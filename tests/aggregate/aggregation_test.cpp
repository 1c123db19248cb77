#include "aggregate/aggregation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "aggregate/cost_unit_step.hpp"
#include "core/parallel.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_cases.hpp"
#include "reference/aggregation_reference.hpp"

namespace recon {
namespace {

using namespace reference;

/// Error of weights and sums in single precision.
constexpr double kWeightBound = 1e-5;

Volume<float> clone(const Volume<float>& volume) {
  Volume<float> copy(volume.width(), volume.planes(), volume.height());
  for (int y = 0; y < volume.height(); ++y)
    for (int d = 0; d < volume.planes(); ++d)
      std::copy_n(volume.view().row(y, d), volume.width(), copy.view().row(y, d));
  return copy;
}

Volume<float> row_volume(std::initializer_list<float> costs) {
  Volume<float> volume(static_cast<int>(costs.size()), 1, 1);
  std::copy(costs.begin(), costs.end(), volume.view().row(0, 0));
  return volume;
}

struct Views {
  Image<Rgb8> reference, source;
  Image<Cross> reference_arms, source_arms;
};

Views random_views(const VolumeShape& shape, std::uint32_t seed, const CrossOptions& options = {}) {
  Views views{random_colours(shape.width, shape.height, seed),
              random_colours(shape.width, shape.height, seed + 1),
              {},
              {}};
  views.reference_arms = cross_arms(views.reference.view(), options);
  views.source_arms = cross_arms(views.source.view(), options);
  return views;
}

TEST(CostUnit, ByHand) {
  EXPECT_EQ(cost_unit(256).unit, 0x1p-10f);
  EXPECT_EQ(cost_unit(255).unit, 0x1p-10f);
  EXPECT_EQ(cost_unit(257).unit, 0x1p-9f);
  EXPECT_EQ(cost_unit(2).unit, 0x1p-17f);
  const CostUnit unit = cost_unit(255);
  for (const float whole : {0.0f, 1.0f, 62.0f, 255.0f}) EXPECT_EQ(unit.rounded(whole), whole);
  EXPECT_EQ(unit.rounded(3.0f + 0x1.8p-11f), 3.0f + 0x1p-10f);
  EXPECT_EQ(unit.rounded(0x1p-11f), 0.0f) << "to the even one";
  EXPECT_EQ(unit.rounded(0x1.8p-10f), 0x1p-9f) << "to the even one";
  EXPECT_EQ(unit.rounded(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  for (const float greatest : {0.0f, -1.0f, 0x1p61f, 0x1p-61f, std::nanf("")})
    EXPECT_THROW(cost_unit(greatest), std::logic_error) << greatest;
}

/// Required by the GPU.
TEST(CostUnit, SumsOfTheLargestSquaresFitIntoAWord) {
  constexpr std::uint64_t kSide = 2 * kMaxSquareRadius + 1;
  for (const float greatest : {2.0f, 20.0f, 62.0f, 255.0f, 0x1.000002p8f}) {
    const CostUnit unit = cost_unit(greatest);
    EXPECT_LT(kSide * kSide * static_cast<std::uint64_t>(std::ceil(greatest / unit.unit)),
              std::uint64_t{1} << 32)
        << greatest;
  }
}

TEST(ConstantWindow, ByHand) {
  const Volume<float> costs = row_volume({3, 5, 10, 0, 2});
  Volume<float> means = poisoned(5, 1, 1);
  constant_window(costs.view(), 1, kMaxCost, means.view());
  const std::array<float, 5> expected{4, 6, 5, 4, 1};
  for (int x = 0; x < 5; ++x) EXPECT_EQ(means.view()(x, 0, 0), expected[static_cast<std::size_t>(x)]) << x;
  constant_window(costs.view(), 0, kMaxCost, means.view());
  EXPECT_TRUE(near(means.view(), costs.view(), 0));
  constant_window(costs.view(), kMaxConstantRadius, kMaxCost, means.view());
  for (int x = 0; x < 5; ++x) EXPECT_EQ(means.view()(x, 0, 0), 4.0f) << x;
}

TEST(ConstantWindow, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const int radius : {0, 1, 2, 5, 16, 40})
      for (const bool whole : {true, false}) {
        const Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed, whole);
        Volume<float> means = poisoned(shape.width, shape.planes, shape.height);
        constant_window(costs.view(), radius, kMaxCost, means.view());
        const Volume<float> expected = reference::constant_window(in_units(costs.view()).view(), radius);
        EXPECT_TRUE(whole ? near(means.view(), expected.view(), 0)
                          : near_means(means.view(), expected.view()))
            << describe(shape) << ", radius " << radius;
      }
}

TEST(ConstantWindow, EqualsTheSequentialProgramThatItIsTimedAgainst) {
  const Volume<float> costs = random_costs(35, 3, 19, 2);
  Volume<float> means = poisoned(35, 3, 19), direct = poisoned(35, 3, 19);
  constant_window(costs.view(), 10, kMaxCost, means.view());
  reference::direct_window_means(costs.view(), 10, direct.view());
  EXPECT_TRUE(near(direct.view(), means.view(), 1e-5, 0x1p-11)) << "441 additions in single precision";
}

TEST(ConstantWindow, RefusesWhatDoesNotFit) {
  Volume<float> costs = random_costs(8, 2, 4, 1), other(8, 3, 4);
  EXPECT_THROW(constant_window(costs.view(), 1, kMaxCost, other.view()), std::logic_error);
  EXPECT_THROW(constant_window(costs.view(), 1, kMaxCost, costs.view()), std::logic_error);
  Volume<float> means(8, 2, 4);
  EXPECT_THROW(constant_window(costs.view(), -1, kMaxCost, means.view()), std::logic_error);
  EXPECT_THROW(constant_window(costs.view(), kMaxConstantRadius + 1, kMaxCost, means.view()),
               std::logic_error);
  EXPECT_THROW(constant_window(costs.view(), 1, 0, means.view()), std::logic_error);
}

TEST(AdaptiveWeight, LabOfKnownColours) {
  // Values from common tables of sRGB under D65.
  const std::array<std::pair<Rgb8, Lab>, 5> known{{{{0, 0, 0}, {0, 0, 0}},
                                                   {{255, 255, 255}, {100, 0, 0}},
                                                   {{255, 0, 0}, {53.24f, 80.09f, 67.20f}},
                                                   {{0, 255, 0}, {87.73f, -86.18f, 83.18f}},
                                                   {{0, 0, 255}, {32.30f, 79.19f, -107.86f}}}};
  for (const auto& [colour, expected] : known) {
    const Lab lab = to_lab(colour);
    EXPECT_NEAR(lab.l, expected.l, 0.02f);
    EXPECT_NEAR(lab.a, expected.a, 0.02f);
    EXPECT_NEAR(lab.b, expected.b, 0.02f);
  }
}

TEST(AdaptiveWeight, ByHand) {
  // A uniform view: only the distance affects the weight. gamma_s = 1, so a neighbour has w = 1/e.
  const Image<Rgb8> flat(3, 1, Rgb8{9, 9, 9});
  const Volume<float> costs = row_volume({0, 6, 12});
  Volume<float> means = poisoned(3, 1, 1);
  adaptive_weight({flat.view(), {}}, {1, 5, 1}, costs.view(), means.view());
  const float w = std::exp(-1.0f);
  EXPECT_FLOAT_EQ(means.view()(0, 0, 0), 6 * w / (1 + w));
  EXPECT_FLOAT_EQ(means.view()(1, 0, 0), 6);
  // Two views: the square of it; plane 0 is disparity 1, so only columns 1 and 2 have matches.
  adaptive_weight({flat.view(), flat.view(), PairSide::kLeft, 1}, {1, 5, 1}, costs.view(), means.view());
  EXPECT_FLOAT_EQ(means.view()(0, 0, 0), 6 * w / (1 + w)) << "no match: the reference alone";
  EXPECT_FLOAT_EQ(means.view()(1, 0, 0), (6 + 12 * w * w) / (1 + w * w)) << "column 0 does not count";
}

TEST(AdaptiveWeight, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const int radius : {0, 1, 4, 17}) {
      if (radius == 17 && shape.planes > 7) continue;  // the textbook version is slow
      const Views images = random_views(shape, seed += 10);
      const Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed);
      for (const PairSide side : {PairSide::kLeft, PairSide::kRight})
        for (const bool two : {true, false}) {
          const ImageView<const Rgb8> source = two ? images.source.view() : ImageView<const Rgb8>{};
          Volume<float> means = poisoned(shape.width, shape.planes, shape.height);
          adaptive_weight({images.reference.view(), source, side, shape.min_disparity}, {radius, 7, 11},
                          costs.view(), means.view());
          const ColourViews views{images.reference.view(), source, side == PairSide::kLeft ? -1 : 1,
                                  shape.min_disparity};
          EXPECT_TRUE(near(means.view(),
                           reference::adaptive_weight(views, costs.view(), radius, 7, 11).view(),
                           kWeightBound))
              << describe(shape) << ", radius " << radius << ", views " << 1 + two;
        }
    }
}

TEST(AdaptiveWeight, RefusesWhatDoesNotFit) {
  const Image<Rgb8> image = random_colours(8, 4, 1), narrow = random_colours(7, 4, 1);
  const Volume<float> costs = random_costs(8, 2, 4, 1);
  Volume<float> means(8, 2, 4), other(8, 2, 3);
  const SupportViews<Rgb8> views{image.view(), image.view()};
  const auto run = [&](const SupportViews<Rgb8>& v, const AdaptiveWeightOptions& o, VolumeView<float> out) {
    adaptive_weight(v, o, costs.view(), out);
  };
  EXPECT_THROW(run({narrow.view(), {}}, {}, means.view()), std::logic_error);
  EXPECT_THROW(run({image.view(), narrow.view()}, {}, means.view()), std::logic_error);
  EXPECT_THROW(run(views, {}, other.view()), std::logic_error);
  EXPECT_THROW(run(views, {-1, 5, 5}, means.view()), std::logic_error);
  EXPECT_THROW(run(views, {kMaxAdaptiveRadius + 1, 5, 5}, means.view()), std::logic_error);
  EXPECT_THROW(run(views, {3, 0, 5}, means.view()), std::logic_error);
  EXPECT_THROW(run(views, {3, 5, NAN}, means.view()), std::logic_error);
}

TEST(CrossBased, ByHand) {
  // One mean on each side of an edge.
  Image<Rgb8> image(4, 2, Rgb8{10, 10, 10});
  for (int y = 0; y < 2; ++y) image(3, y) = {200, 10, 10};
  Volume<float> costs(4, 1, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) costs.view()(x, y, 0) = static_cast<float>(x + 4 * y);
  const Image<Cross> arms = cross_arms(image.view(), {});
  cross_based({arms.view(), {}}, {1}, kMaxCost, costs.view());
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) EXPECT_EQ(costs.view()(x, y, 0), x < 3 ? 3.0f : 5.0f) << x << " " << y;
}

TEST(CrossBased, TheFirstIterationSumsAlongRowsOfAColumn) {
  // p = (0, 0) of an L: its column has one arm along row 1, its row none.
  Image<Rgb8> image(2, 2, Rgb8{10, 10, 10});
  image(1, 0) = {200, 10, 10};
  const Image<Cross> arms = cross_arms(image.view(), {});
  Volume<float> costs(2, 1, 2);
  costs.view()(0, 0, 0) = 2, costs.view()(1, 0, 0) = 90, costs.view()(0, 1, 0) = 4, costs.view()(1, 1, 0) = 9;
  cross_based({arms.view(), {}}, {1}, kMaxCost, costs.view());
  EXPECT_EQ(costs.view()(0, 0, 0), 5.0f);
  EXPECT_EQ(costs.view()(1, 0, 0), 90.0f);
}

TEST(CrossBased, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  const CrossOptions rule{9, 4, 45, 25};
  for (const VolumeShape& shape : kVolumeShapes) {
    const Views images = random_views(shape, seed += 10, rule);
    for (const int iterations : {0, 1, 2, 4})
      for (const PairSide side : {PairSide::kLeft, PairSide::kRight})
        for (const bool two : {true, false}) {
          const bool whole = iterations <= 1;
          const Volume<float> given = random_costs(shape.width, shape.planes, shape.height, ++seed, whole);
          Volume<float> costs = clone(given);
          cross_based({images.reference_arms.view(),
                       two ? images.source_arms.view() : ImageView<const Cross>{}, side, shape.min_disparity},
                      {iterations}, kMaxCost, costs.view());
          const ColourViews views{images.reference.view(),
                                  two ? images.source.view() : ImageView<const Rgb8>{},
                                  side == PairSide::kLeft ? -1 : 1, shape.min_disparity};
          const Volume<float> expected = reference::cross_based(
              views, in_units(given.view()).view(),
              {rule.reach, rule.near_reach, rule.colour, rule.strict_colour}, iterations);
          EXPECT_TRUE(whole ? near(costs.view(), expected.view(), 0)
                            : near_means(costs.view(), expected.view(), iterations))
              << describe(shape) << ", iterations " << iterations << ", views " << 1 + two;
        }
  }
}

TEST(CrossBased, FlatImagesGiveTheMeanOfAll) {
  const Image<Rgb8> flat(23, 9, Rgb8{80, 90, 100});
  const Image<Cross> arms = cross_arms(flat.view(), {});
  Volume<float> costs = random_costs(23, 3, 9, 4, true);
  const Volume<float> expected = reference::constant_window(costs.view(), 40);
  cross_based({arms.view(), {}}, {1}, kMaxCost, costs.view());
  EXPECT_TRUE(near(costs.view(), expected.view(), 0));
}

TEST(CrossBased, RefusesWhatDoesNotFit) {
  const Image<Cross> arms(8, 4, Cross{}), narrow(7, 4, Cross{});
  Volume<float> costs = random_costs(8, 2, 4, 1);
  EXPECT_THROW(cross_based({narrow.view(), {}}, {}, kMaxCost, costs.view()), std::logic_error);
  EXPECT_THROW(cross_based({arms.view(), narrow.view()}, {}, kMaxCost, costs.view()), std::logic_error);
  EXPECT_THROW(cross_based({arms.view(), {}}, {-1}, kMaxCost, costs.view()), std::logic_error);
  EXPECT_THROW(cross_based({arms.view(), {}}, {65}, kMaxCost, costs.view()), std::logic_error);
  EXPECT_THROW(cross_based({arms.view(), {}}, {}, 0, costs.view()), std::logic_error);
}

TEST(Gaps, ByHand) {
  const float none = std::numeric_limits<float>::infinity();
  const Volume<float> costs = row_volume({3, none, 9, none, none, none, 6});
  Volume<float> means = poisoned(7, 1, 1);
  const auto expect = [&](std::initializer_list<float> expected) {
    int x = 0;
    for (const float value : expected) {
      EXPECT_EQ(means.view()(x, 0, 0), value) << x;
      ++x;
    }
  };
  constant_window(costs.view(), 1, kMaxCost, means.view());
  expect({3, 6, 9, 9, none, 6, 6});
  const Image<Rgb8> flat(7, 1, Rgb8{9, 9, 9});
  adaptive_weight({flat.view(), {}}, {1, 5, 1e30f}, costs.view(), means.view());
  expect({3, 6, 9, 9, none, 6, 6});
  const Image<Cross> arms = cross_arms(flat.view(), {2, 2, 20, 6});
  means = clone(costs);
  cross_based({arms.view(), {}}, {1}, kMaxCost, means.view());
  expect({3, 6, 9, 9, none, 6, 6});
  cross_based({arms.view(), {}}, {1}, kMaxCost, means.view());
  expect({4.5f, 6, 8, 9, 7.5f, 6, 6});
}

TEST(Gaps, DoNotCountAsInTheTextbook) {
  std::uint32_t seed = 50;
  const CrossOptions rule{9, 4, 45, 25};
  for (const VolumeShape& shape : kVolumeShapes) {
    const Views images = random_views(shape, seed += 10, rule);
    Volume<float> given = random_costs(shape.width, shape.planes, shape.height, ++seed);
    cut_gaps(given.view(), seed);
    Volume<float> means = poisoned(shape.width, shape.planes, shape.height);
    for (const int radius : {0, 1, 3, 40}) {
      constant_window(given.view(), radius, kMaxCost, means.view());
      EXPECT_TRUE(
          near_means(means.view(), reference::constant_window(in_units(given.view()).view(), radius).view()))
          << describe(shape) << ", radius " << radius;
    }
    for (const bool two : {true, false}) {
      const ColourViews views{images.reference.view(), two ? images.source.view() : ImageView<const Rgb8>{},
                              -1, shape.min_disparity};
      adaptive_weight({views.here, views.there, PairSide::kLeft, shape.min_disparity}, {3, 7, 11},
                      given.view(), means.view());
      EXPECT_TRUE(
          near(means.view(), reference::adaptive_weight(views, given.view(), 3, 7, 11).view(), kWeightBound))
          << describe(shape) << ", views " << 1 + two;
      for (const int iterations : {1, 4}) {
        Volume<float> costs = clone(given);
        cross_based({images.reference_arms.view(), two ? images.source_arms.view() : ImageView<const Cross>{},
                     PairSide::kLeft, shape.min_disparity},
                    {iterations}, kMaxCost, costs.view());
        const Volume<float> expected = reference::cross_based(
            views, in_units(given.view()).view(),
            {rule.reach, rule.near_reach, rule.colour, rule.strict_colour}, iterations);
        EXPECT_TRUE(near_means(costs.view(), expected.view(), iterations))
            << describe(shape) << ", iterations " << iterations << ", views " << 1 + two;
      }
    }
  }
}

TEST(Aggregation, KeepsConstantCosts) {
  const VolumeShape shape{37, 11, 5, -2};
  const Views images = random_views(shape, 3);
  Volume<float> flat(37, 5, 11);
  for (int y = 0; y < 11; ++y)
    for (int d = 0; d < 5; ++d) std::fill_n(flat.view().row(y, d), 37, 7.0f);
  Volume<float> means = poisoned(37, 5, 11);
  constant_window(flat.view(), 3, kMaxCost, means.view());
  EXPECT_TRUE(near(means.view(), flat.view(), 0));
  adaptive_weight({images.reference.view(), images.source.view(), PairSide::kLeft, -2}, {}, flat.view(),
                  means.view());
  EXPECT_TRUE(near(means.view(), flat.view(), kWeightBound));
  means = clone(flat);
  cross_based({images.reference_arms.view(), images.source_arms.view(), PairSide::kLeft, -2}, {}, kMaxCost,
              means.view());
  EXPECT_TRUE(near(means.view(), flat.view(), 0));
}

TEST(Aggregation, SameBitsForAnyNumberOfThreads) {
  const VolumeShape shape{61, 23, 13, 0};
  const Views images = random_views(shape, 3);
  const Volume<float> costs = random_costs(61, 13, 23, 5);
  const std::array<std::function<void(VolumeView<float>)>, 3> aggregators{
      [&](VolumeView<float> out) { constant_window(costs.view(), 4, kMaxCost, out); },
      [&](VolumeView<float> out) {
        adaptive_weight({images.reference.view(), images.source.view()}, {5, 5, 17.5f}, costs.view(), out);
      },
      [&](VolumeView<float> out) {
        for (int y = 0; y < 23; ++y)
          for (int d = 0; d < 13; ++d) std::copy_n(costs.view().row(y, d), 61, out.row(y, d));
        cross_based({images.reference_arms.view(), images.source_arms.view()}, {}, kMaxCost, out);
      }};
  for (const auto& aggregate : aggregators) {
    Volume<float> first = poisoned(61, 13, 23);
    ThreadLimit(1).run([&] { aggregate(first.view()); });
    for (const int threads : {2, 5}) {
      Volume<float> again = poisoned(61, 13, 23);
      ThreadLimit(threads).run([&] { aggregate(again.view()); });
      EXPECT_TRUE(near(again.view(), first.view(), 0)) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace recon
