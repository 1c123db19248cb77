#include "fuse/holes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "fuse/reliability.hpp"
#include "reference/holes_reference.hpp"

namespace recon {
namespace {

constexpr Vec3f kNoNormal{kUnknown, kUnknown, kUnknown};

/// Parallel cameras before the plane 1/z = 0.5 + 0.02 X / Z; view i is at x = 0.1 i.
struct SlantedPlaneViews {
  explicit SlantedPlaneViews(int count, int width = 40, int height = 30) {
    for (int i = 0; i < count; ++i) {
      const Pinhole camera{width, height, 40, 40, width / 2.0, height / 2.0};
      Pose pose;
      pose.translation = {-0.1 * i, 0, 0};
      depths.emplace_back(width, height);
      normals.emplace_back(width, height, Vec3f{0.04f, 0, -0.9992f});
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          // z = 2 - 0.04 X with X = x z + 0.1 i in the world.
          const double ray = camera.ray(pixel_centre(x, y)).x;
          depths.back()(x, y) = static_cast<float>((2 - 0.04 * 0.1 * i) / (1 + 0.04 * ray));
        }
      sources.push_back({camera, pose, static_cast<std::uint64_t>(i), [this, i] {
                           ++loads;
                           const auto k = static_cast<std::size_t>(i);
                           return DepthSource::Maps{depths[k].view(), normals[k].view(), {}};
                         }});
    }
    confidence = Image<float>(width, height, 0.75f);
  }

  void invalidate(int x, int y) {
    depths[0](x, y) = confidence(x, y) = kUnknown;
    normals[0](x, y) = kNoNormal;
  }
  CheckedMaps maps() { return {depths[0].view(), normals[0].view(), confidence.view()}; }
  std::vector<DepthSource> others() const { return {sources.begin() + 1, sources.end()}; }
  void fill(const HoleOptions& options = {}) { fill_holes(maps(), sources[0], others(), options); }

  std::vector<Image<float>> depths;
  std::vector<Image<Vec3f>> normals;
  Image<float> confidence;
  std::vector<DepthSource> sources;
  int loads = 0;
};

TEST(Holes, AreFilledWithThePlaneAround) {
  SlantedPlaneViews views(4);
  const float right = views.depths[0](20, 15), beside = views.depths[0](21, 15);
  views.invalidate(20, 15);
  views.invalidate(21, 15);
  views.fill();
  EXPECT_NEAR(views.depths[0](20, 15), right, 1e-5f);
  EXPECT_NEAR(views.depths[0](21, 15), beside, 1e-5f);
  const Vec3f n = views.normals[0](20, 15);
  EXPECT_NEAR(n.x, 0.04f, 1e-4f);
  EXPECT_NEAR(n.z, -0.9992f, 1e-4f);
  // Three sources know the pixel and agree; the depths around vary little.
  const float variation = inverse_depth_variation(views.depths[0].view())(20, 15);
  EXPECT_EQ(views.confidence(20, 15), reliability({3, 3, 3, 3, 0}, variation));
  EXPECT_EQ(views.confidence(0, 0), 0.75f);  // known pixels keep theirs
}

TEST(Holes, OfTheMaskStayUnknown) {
  SlantedPlaneViews views(4);
  Image<std::uint8_t> mask(40, 30, std::uint8_t{255});
  for (const int x : {20, 24}) views.invalidate(x, 15);
  mask(20, 15) = 0;
  CheckedMaps maps = views.maps();
  maps.mask = std::as_const(mask).view();
  fill_holes(maps, views.sources[0], views.others(), {});
  EXPECT_TRUE(std::isnan(views.depths[0](20, 15)));
  EXPECT_FALSE(std::isnan(views.depths[0](24, 15)));
}

TEST(Holes, NeedTwoSourcesThatAgree) {
  for (const int agreeing : {1, 2}) {
    SlantedPlaneViews views(4);
    for (int i = 1; i <= 3 - agreeing; ++i) views.depths[static_cast<std::size_t>(i)].fill(kUnknown);
    views.invalidate(20, 15);
    views.fill();
    EXPECT_EQ(std::isnan(views.depths[0](20, 15)), agreeing == 1) << agreeing;
    EXPECT_EQ(std::isnan(views.normals[0](20, 15).x), agreeing == 1) << agreeing;
    EXPECT_EQ(std::isnan(views.confidence(20, 15)), agreeing == 1) << agreeing;
  }
}

TEST(Holes, OneSourceSufficesWhereThereIsOne) {
  SlantedPlaneViews views(2);
  views.invalidate(20, 15);
  views.fill();
  EXPECT_FALSE(std::isnan(views.depths[0](20, 15)));
}

TEST(Holes, MinViewsAndMinConfidenceCount) {
  HoleOptions three;
  three.agreement.min_views = 4;  // there are three
  HoleOptions sure;
  sure.min_confidence = 1.0f;
  for (const HoleOptions& options : {three, sure}) {
    SlantedPlaneViews views(4);
    views.invalidate(20, 15);
    views.fill(options);
    EXPECT_TRUE(std::isnan(views.depths[0](20, 15)));
  }
}

TEST(Holes, AreNotFilledWhereMoreSourcesSeeThroughThanAgree) {
  SlantedPlaneViews views(6);
  for (std::size_t i = 1; i <= 3; ++i) views.depths[i].fill(9.0f);  // two are left
  views.invalidate(20, 15);
  views.fill({8, 0.0f, {}});
  EXPECT_TRUE(std::isnan(views.depths[0](20, 15)));
  views.depths[3].fill(1.0f);  // hides the point
  views.fill({8, 0.0f, {}});
  EXPECT_FALSE(std::isnan(views.depths[0](20, 15)));
}

TEST(Holes, AtTheEdgeOfASurfaceStayUnknown) {
  SlantedPlaneViews views(4);
  // Everything to the right of column 20 is another surface; the hole lies between the two.
  for (int y = 0; y < 30; ++y)
    for (int x = 21; x < 40; ++x) views.depths[0](x, y) *= 1.5f;
  for (int y = 10; y < 20; ++y) views.invalidate(20, y);
  views.fill({8, 0.0f, {}});
  for (int y = 10; y < 20; ++y) EXPECT_TRUE(std::isnan(views.depths[0](20, y))) << y;
}

TEST(Holes, OfMoreThanTheReachStayUnknown) {
  for (const int size : {3, 4}) {
    SlantedPlaneViews views(4);
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) views.invalidate(10 + x, 10 + y);
    views.fill({3, 0.0f, {}});
    // From the corner, the far side of four pixels is four away.
    EXPECT_EQ(std::isnan(views.depths[0](10, 10)), size == 4) << size;
  }
}

TEST(Holes, WithoutReachNothingIsLoadedOrFilled) {
  SlantedPlaneViews views(4);
  views.invalidate(20, 15);
  views.fill({0, 0.0f, {}});
  EXPECT_TRUE(std::isnan(views.depths[0](20, 15)));
  EXPECT_EQ(views.loads, 0);
}

/// Sources of the same pose agree with everything, so that what the reference interpolates is filled.
TEST(Holes, EqualTheReferenceAtOddSizes) {
  std::mt19937 random(20261125);
  std::uniform_real_distribution<float> uniform(0, 1);
  int filled = 0, left = 0;
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(7, 3), std::pair(67, 41)})
    for (const int reach : {1, 2, 8}) {
      SlantedPlaneViews views(3, width, height);
      for (DepthSource& source : views.sources) source.cam_from_world = {};
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          views.depths[0](x, y) *= uniform(random) < 0.05f ? 1.1f : 1.0f + 0.004f * uniform(random);
          if (uniform(random) < 0.4f) views.invalidate(x, y);
        }
      const Image<float> before = views.depths[0].clone();
      const Image<float> expected = reference::interpolated_depths(before.view(), reach);
      HoleOptions options{reach, 0.0f, {}};
      options.agreement.max_relative_depth = 0.5f;
      views.fill(options);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const float got = views.depths[0](x, y);
          if (!std::isnan(before(x, y))) {
            ASSERT_EQ(got, before(x, y)) << x << ' ' << y;
            continue;
          }
          ASSERT_EQ(std::isnan(got), std::isnan(expected(x, y))) << x << ' ' << y;
          ++(std::isnan(got) ? left : filled);
          if (std::isnan(got)) continue;
          ASSERT_NEAR(got, expected(x, y), 1e-5f * got) << x << ' ' << y;
        }
    }
  EXPECT_GT(filled, 500);
  EXPECT_GT(left, 100);
}

}  // namespace
}  // namespace recon
