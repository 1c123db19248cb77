#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/match/sweep.hpp"
#include "match/posed_image.hpp"

namespace recon::cuda {
namespace {

/// Against every sample of the tile, for cameras anywhere: beside, before, behind and turned away.
TEST(TileCoverage, IsTrueForEverySampleOfRandomCameras) {
  std::mt19937 random(7);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int seen[3] = {0, 0, 0};
  for (int trial = 0; trial < 3000; ++trial) {
    const Pinhole reference{1000, 800, uniform(300, 2000), uniform(300, 2000), 500, 400};
    const int width = static_cast<int>(uniform(2, 1500)), height = static_cast<int>(uniform(2, 1500));
    const Pinhole source{width, height, uniform(100, 2000), uniform(100, 2000), width / 2.0, height / 2.0};
    const double scale = trial % 4 == 0 ? 3.0 : 0.3;
    const double a = uniform(-scale, scale), b = uniform(-scale, scale);
    Pose pose;
    pose.rotation = Mat3d{{std::cos(a), 0, std::sin(a), 0, 1, 0, -std::sin(a), 0, std::cos(a)}} *
                    Mat3d{{1, 0, 0, 0, std::cos(b), -std::sin(b), 0, std::sin(b), std::cos(b)}};
    pose.translation = {uniform(-2, 2), uniform(-2, 2), uniform(-4, 2)};
    const SourceWarp warp = make_source_warp(reference, {}, source, pose);
    const float w = static_cast<float>(uniform(0.05, 1.0));
    const int x0 = static_cast<int>(uniform(0, 990)), y0 = static_cast<int>(uniform(0, 790));
    const int x1 = std::min(999, x0 + 127), y1 = std::min(799, y0 + 63);
    const Coverage coverage = tile_coverage(warp, w, x0, x1, y0, y1, width, height);
    ++seen[static_cast<int>(coverage)];
    if (coverage == Coverage::kSome) continue;
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x)
        ASSERT_EQ(sample_position(row_warp(warp, w, y), x, width, height).inside, coverage == Coverage::kAll)
            << "trial " << trial << " at " << x << ", " << y;
  }
  for (const int count : seen) EXPECT_GT(count, 100) << "each class must occur";
}

TEST(TileCoverage, GivesUpNearTheBorderAndNearTheCameraPlane) {
  const Pinhole camera{200, 200, 100, 100, 100, 100};
  const SourceWarp same = make_source_warp(camera, {}, camera, {});
  EXPECT_EQ(tile_coverage(same, 1.0f, 1, 198, 1, 198, 200, 200), Coverage::kAll);
  EXPECT_EQ(tile_coverage(same, 1.0f, 0, 198, 1, 198, 200, 200), Coverage::kSome);
  const Pose behind{identity<double>(), {0, 0, -1}};
  EXPECT_EQ(tile_coverage(make_source_warp(camera, {}, camera, behind), 1.0f, 1, 198, 1, 198, 200, 200),
            Coverage::kNothing);
}

}  // namespace
}  // namespace recon::cuda
