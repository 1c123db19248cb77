// What depth maps of others are, by known depths.

#include "scene/depth_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "scene/depth_changes.hpp"

namespace recon {
namespace {

using test::Change, test::kDistance, test::kInverse, test::kNarrow, test::kRight, test::kWide,
    test::scaled_by;

/// The samples of a camera that looks at random depths; logarithms have a noise, a share is anything.
std::vector<DepthSample> samples_of(const Pinhole& camera, std::size_t count, double noise, double outliers,
                                    const Change& change) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> shift(0, noise);
  std::vector<DepthSample> samples;
  while (samples.size() < count) {
    const double ray = norm(camera.ray({unit(random) * camera.width, unit(random) * camera.height}));
    const double depth = 1 + 4 * unit(random);
    const double value = change(depth, ray) * std::exp(shift(random));
    samples.push_back({unit(random) < outliers ? depth * (0.2 + 3 * unit(random)) : value, depth, ray});
  }
  return samples;
}

TEST(DepthCheck, RightDepthsAreRightHoweverNoisy) {
  for (const std::size_t count : {5u, 29u, 30u, 60u, 300u, 3000u})
    for (const double noise : {0.0, 0.002, 0.02, 0.1, 0.25})
      for (const double outliers : {0.0, 0.2, 0.4})
        for (const Pinhole& camera : {kWide, kNarrow}) {
          const DepthVerdict verdict = judge_depths(samples_of(camera, count, noise, outliers, kRight), 0.05);
          EXPECT_TRUE(verdict.right()) << count << " samples, noise " << noise << ", outliers " << outliers;
          EXPECT_EQ(verdict.samples, count);
        }
  EXPECT_TRUE(judge_depths({}, 0.05).right());
}

TEST(DepthCheck, AnotherUnitIsTheMedianRatio) {
  for (const double factor : {1000.0, 0.001, 3.2808, 1.2, 0.9})
    for (const double noise : {0.0, 0.02})
      for (const double outliers : {0.0, 0.3}) {
        const DepthVerdict verdict =
            judge_depths(samples_of(kWide, 200, noise, outliers, scaled_by(factor)), 0.05);
        EXPECT_NEAR(verdict.scale / factor, 1, 0.02) << factor << " " << noise;
        EXPECT_EQ(verdict.meaning, DepthMeaning::kDepth);
        EXPECT_FALSE(verdict.unrelated);
      }
}

TEST(DepthCheck, DistancesGrowWithTheRay) {
  for (const double factor : {1.0, 1000.0})
    for (const double noise : {0.0, 0.03})
      for (const double outliers : {0.0, 0.25}) {
        const DepthVerdict verdict =
            judge_depths(samples_of(kWide, 400, noise, outliers, scaled_by(factor, kDistance)), 0.05);
        EXPECT_EQ(verdict.meaning, DepthMeaning::kDistance) << factor << " " << noise << " " << outliers;
        EXPECT_NEAR(verdict.scale / factor, 1, 0.02);
      }
  EXPECT_TRUE(judge_depths(samples_of(kNarrow, 400, 0.01, 0.1, kDistance), 0.05).right())
      << "of a narrow lens they are the same";
}

TEST(DepthCheck, AScaleOfFourPercentIsOneWhereNothingScattersSoMuch) {
  const auto scale = [](double noise, double min_scale) {
    return judge_depths(samples_of(kWide, 300, noise, 0, scaled_by(1.04)), min_scale).scale;
  };
  EXPECT_NEAR(scale(0.003, 0.025), 1.04, 0.005);
  EXPECT_EQ(scale(0.003, 0.05), 1) << "of one view it may be a sensor's";
  EXPECT_EQ(scale(0.05, 0.025), 1);
}

TEST(DepthCheck, AnotherMeaningFitsMuchBetterThanDepths) {
  const auto meaning = [](double noise, const Change& change) {
    return judge_depths(samples_of(kWide, 200, noise, 0.1, change), 0.05).meaning;
  };
  for (const double noise : {0.0, 0.01}) {
    EXPECT_EQ(meaning(noise, kInverse), DepthMeaning::kDisparity);
    EXPECT_EQ(meaning(noise, scaled_by(50, kInverse)), DepthMeaning::kDisparity);
    EXPECT_EQ(meaning(noise, [](double depth, double) { return 3 / depth + 0.5; }), DepthMeaning::kDisparity);
    EXPECT_EQ(meaning(noise, [](double depth, double) { return 0.7 * depth + 2; }),
              DepthMeaning::kShiftedDepth);
    EXPECT_EQ(meaning(noise, [](double depth, double) { return 1 / (0.7 / depth + 0.4); }),
              DepthMeaning::kShiftedInverse);
    EXPECT_EQ(meaning(noise, kRight), DepthMeaning::kDepth);
  }
  EXPECT_EQ(meaning(0.005, [](double depth, double) { return 1.02 * depth - 0.05; }), DepthMeaning::kDepth)
      << "sensors are displaced by a little";
}

TEST(DepthCheck, DepthsOfOtherPlacesAreUnrelated) {
  std::vector<DepthSample> samples = samples_of(kWide, 200, 0.01, 0, kRight);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i].value = samples[(7 * i + 3) % samples.size()].depth;
  EXPECT_TRUE(judge_depths(samples, 0.05).unrelated);
  for (DepthSample& sample : samples) sample.value = 3;
  EXPECT_TRUE(judge_depths(samples, 0.05).unrelated);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].depth = 3 + 0.01 * static_cast<double>(i % 5);
  EXPECT_TRUE(judge_depths(samples, 0.05).right()) << "of a flat surface they are all the same";
}

TEST(DepthCheck, APixelAtTheBorderIsInTheMap) {
  for (int width = 1; width < 200; ++width)
    for (int side = 1; side < 200; ++side) {
      Image<float> map(side, 1, 1.0F);
      map(side - 1, 0) = 2;
      const Pinhole camera{width, 1, 1, 1, 0, 0};
      EXPECT_EQ(depth_at(map, camera, {std::nextafter(width, 0), 0.5}), 2.0F) << side << " of " << width;
    }
}

}  // namespace
}  // namespace recon
