#include "methods/cuda_aggregation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "aggregate/cross_based.hpp"
#include "cuda/gpu_test.hpp"
#include "match/cross_arms.hpp"
#include "reference/aggregation_cases.hpp"
#include "reference/aggregation_reference.hpp"

namespace recon {
namespace {

using reference::ColourViews;
using reference::cut_gaps;
using reference::describe;
using reference::kVolumeShapes;
using reference::near;
using reference::random_colours;
using reference::random_costs;
using reference::VolumeShape;

/// Sums in double, rounded twice: to float, and when divided.
constexpr double kDoubleSumBound = 2e-7;
/// In every byte of the device's memory before a call: floats of it are no numbers.
constexpr std::uint8_t kPoison = 0xFF;

class CudaCrossArms : public test::GpuTest<> {};
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
  cross_based(views, options, copy.view());
  return copy;
}

TEST_F(CudaCrossArms, EqualTheCpus) {
  std::uint32_t seed = 1;
  for (const VolumeShape& shape : kVolumeShapes)
    for (const CrossOptions& rule : {CrossOptions{}, CrossOptions{9, 4, 45, 25}, CrossOptions{1, 0, 20, 6},
                                     CrossOptions{256, 256, 256, 256}}) {
      const Image<Rgb8> image = random_colours(shape.width, shape.height, ++seed);
      const Image<Cross> expected = cross_arms(image.view(), rule);
      const Image<Cross> arms = cuda::run_cross_arms(image.view(), rule, kPoison);
      for (int y = 0; y < shape.height; ++y)
        ASSERT_EQ(
            std::memcmp(arms.row(y), expected.row(y), sizeof(Cross) * static_cast<std::size_t>(shape.width)),
            0)
            << describe(shape) << ", reach " << rule.reach << ", row " << y;
    }
}

TEST_F(CudaCrossBased, EqualsTheTextbook) {
  std::uint32_t seed = 1;
  const CrossOptions rule{9, 4, 45, 25};
  for (const VolumeShape& shape : kVolumeShapes) {
    const Views views(shape, seed += 10, rule);
    for (const int iterations : {0, 1, 2, 4})
      for (const CrossOrder first : {CrossOrder::kHorizontal, CrossOrder::kVertical})
        for (const PairSide side : {PairSide::kLeft, PairSide::kRight})
          for (const bool two : {true, false}) {
            const bool whole = iterations == 1;
            const Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, ++seed, whole);
            const Volume<float> expected =
                reference::cross_based(views.colours(two, side, shape.min_disparity), costs.view(),
                                       {rule.reach, rule.near_reach, rule.colour, rule.strict_colour},
                                       iterations, first == CrossOrder::kHorizontal);
            for (const int longest : {rule.reach - 1, 255})
              EXPECT_TRUE(near(cuda::run_cross_based(views.arms(two, side, shape.min_disparity), longest,
                                                     {iterations, first}, costs.view(), kPoison)
                                   .view(),
                               expected.view(), whole ? 0 : iterations * kDoubleSumBound))
                  << describe(shape) << ", iterations " << iterations << ", views " << 1 + two << ", longest "
                  << longest;
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
            views.colours(two, PairSide::kLeft, shape.min_disparity), costs.view(),
            {rule.reach, rule.near_reach, rule.colour, rule.strict_colour}, iterations, true);
        for (const int longest : {rule.reach - 1, 255})
          EXPECT_TRUE(near(cuda::run_cross_based(views.arms(two, PairSide::kLeft, shape.min_disparity),
                                                 longest, {iterations}, costs.view(), kPoison)
                               .view(),
                           expected.view(), iterations * kDoubleSumBound))
              << describe(shape) << ", iterations " << iterations << ", views " << 1 + two << ", longest "
              << longest;
      }
  }
}

/// Larger than a thread block in every direction, arms from none to the longest.
TEST_F(CudaCrossBased, SameBitsAsTheCpu) {
  const VolumeShape shape{517, 141, 5, -2};
  for (const int reach : {6, 17, 34, 90, 256}) {
    const Views views(shape, 7, {reach, reach / 2, 60, 30});
    for (const bool gaps : {false, true}) {
      Volume<float> costs = random_costs(shape.width, shape.planes, shape.height, 9);
      if (gaps) cut_gaps(costs.view(), 3);
      for (const bool two : {true, false})
        for (const int iterations : {1, 2, 3}) {
          const SupportViews<Cross> arms = views.arms(two, PairSide::kLeft, shape.min_disparity);
          const Volume<float> expected = on_cpu(arms, {iterations}, costs.view());
          EXPECT_TRUE(near(cuda::run_cross_based(arms, reach - 1, {iterations}, costs.view(), kPoison).view(),
                           expected.view(), 0))
              << "reach " << reach << ", gaps " << gaps << ", views " << 1 + two << ", iterations "
              << iterations;
        }
    }
  }
}

TEST_F(CudaCrossBased, RefusesWhatDoesNotFit) {
  const Image<Cross> arms(8, 4, Cross{}), narrow(7, 4, Cross{});
  const Volume<float> costs = random_costs(8, 2, 4, 1);
  const auto run = [&](const SupportViews<Cross>& views, int longest, int iterations) {
    cuda::run_cross_based(views, longest, {iterations}, costs.view(), kPoison);
  };
  EXPECT_THROW(run({narrow.view(), {}}, 33, 1), std::logic_error);
  EXPECT_THROW(run({arms.view(), narrow.view()}, 33, 1), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 33, -1), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 33, 65), std::logic_error);
  EXPECT_THROW(run({arms.view(), {}}, 256, 1), std::logic_error);
}

}  // namespace
}  // namespace recon
