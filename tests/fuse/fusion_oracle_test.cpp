// The check across views and the fusion against textbook versions, with cameras rotated about all axes.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "fuse/agreement.hpp"
#include "fuse/fusion.hpp"
#include "fuse/normal_noise.hpp"
#include "fusion_cases.hpp"

namespace recon {
namespace {

/// Equal: in double precision no rounding decides a comparison of these random depths.
TEST(CountAgreement, EqualsTheTextbookForRotatedCameras) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const RotatedViews scene(seed);
    reference::Counts sum;
    int pixels = 0;
    for (std::size_t i = 0; i < RotatedViews::kCount; ++i) {
      const DepthView view = scene.depth_view(i);
      std::vector<DepthView> sources;
      for (std::size_t j = 0; j < RotatedViews::kCount; ++j)
        if (j != i) sources.push_back(scene.depth_view(j));
      const ConsistencyOptions options{0.01f, 40.0f, 1};
      Image<Agreement> found(view.depth.width, view.depth.height, {});
      for (const DepthView& source : sources) count_agreement(view, source, options, found.view());
      for (int y = 0; y < found.height(); ++y)
        for (int x = 0; x < found.width(); ++x) {
          const reference::Counts expected = reference::agreement(view, sources, options, x, y);
          const Agreement& counts = found(x, y);
          ASSERT_EQ(counts.known, expected.known) << "view " << i << " at " << x << " " << y;
          ASSERT_EQ(counts.agree, expected.agree) << "view " << i << " at " << x << " " << y;
          ASSERT_EQ(counts.through, expected.through) << "view " << i << " at " << x << " " << y;
          ASSERT_EQ(counts.close, expected.close) << "view " << i << " at " << x << " " << y;
          ASSERT_EQ(counts.visible, expected.visible) << "view " << i << " at " << x << " " << y;
          ASSERT_EQ(counts.placed, expected.placed) << "view " << i << " at " << x << " " << y;
          const double step = static_cast<double>(options.max_relative_depth) / 2 / kOffsetSteps;
          ASSERT_NEAR(counts.offset * step, expected.offset, 0.501 * step * expected.placed);
          sum.placed += expected.placed;
          sum.known += expected.known, sum.agree += expected.agree;
          sum.through += expected.through, sum.close += expected.close;
          sum.visible += expected.visible;
          ++pixels;
        }
    }
    EXPECT_GT(sum.known, pixels) << "the case compares little";
    EXPECT_GT(sum.agree, sum.known / 4) << "the case rejects nearly all";
    EXPECT_GT(sum.through, sum.known / 50);
    EXPECT_GT(sum.close, sum.agree / 8);
    EXPECT_LT(sum.close, sum.agree / 2);
    EXPECT_GT(sum.placed, sum.agree / 2);
    EXPECT_LT(sum.placed, sum.agree);
    EXPECT_GT(sum.visible - sum.known, sum.known / 50);
    EXPECT_GT(sum.known - sum.agree - sum.through, sum.known / 50);
  }
}

/// Views agree on noisy normals up to larger angles: pairs of smooth ones within the limit, all others, of
/// views of up to 13 degrees of noise, within up to 90 degrees.
TEST(CountAgreement, FollowsTheNoiseOfNormals) {
  RotatedViews scene(9);
  const ConsistencyOptions options{0.01f, 15.0f, 1, 1.0f, true};
  std::vector<DepthView> views;
  for (std::size_t i = 0; i < RotatedViews::kCount; ++i) {
    views.push_back(scene.depth_view(i));
    views[i].normal_noise = 3.0f * static_cast<float>(i);
  }
  for (const std::size_t i : {0u, 1u, 3u}) {
    Image<Agreement> found(views[i].depth.width, views[i].depth.height, {});
    for (const DepthView& source : views) count_agreement(views[i], source, options, found.view());
    int agree = 0;
    for (int y = 0; y < found.height(); ++y)
      for (int x = 0; x < found.width(); ++x) {
        ASSERT_EQ(found(x, y).agree, reference::agreement(views[i], views, options, x, y).agree)
            << "view " << i << " at " << x << " " << y;
        agree += found(x, y).agree;
      }
    EXPECT_GT(agree, found.width() * found.height());
  }
}

/// The vectors of the processor against the definition that a GPU computes with.
TEST(CountAgreement, EqualsTheStep) {
  const RotatedViews scene(4);
  const ConsistencyOptions options{0.01f, 40.0f, 1};
  for (std::size_t i = 0; i < RotatedViews::kCount; ++i)
    for (std::size_t j = 0; j < RotatedViews::kCount; ++j) {
      const DepthView view = scene.depth_view(i), source = scene.depth_view(j);
      const AgreementGeometry geometry = agreement_geometry(view, source, options);
      const SourcePixels pixels{source.depth.data, source.normal.data, source.depth.pitch,
                                source.normal.pitch};
      Image<Agreement> found(view.depth.width, view.depth.height, {});
      count_agreement(view, source, options, found.view());
      for (int y = 0; y < found.height(); ++y)
        for (int x = 0; x < found.width(); ++x) {
          const Agreement expected =
              agreement_step(geometry, x, y, view.depth(x, y), view.normal(x, y), pixels);
          ASSERT_EQ(std::bit_cast<std::uint64_t>(found(x, y)), std::bit_cast<std::uint64_t>(expected))
              << "views " << i << " and " << j << " at " << x << " " << y;
        }
    }
}

TEST(Reproject, EqualsTheStep) {
  const RotatedViews scene(6);
  const ConsistencyOptions options;
  int agreeing = 0, hidden = 0;
  for (std::size_t i = 0; i < RotatedViews::kCount; ++i) {
    const DepthView reference = scene.depth_view(0), view = scene.depth_view(i);
    const Pose world_from_reference = inverse(reference.cam_from_world);
    for (int y = 0; y < reference.depth.height; ++y) {
      PointBlock points{};
      for (int x = 0; x < reference.depth.width; ++x) {
        const double z = static_cast<double>(reference.depth(x, y));
        points.push(world_from_reference * (z * reference.camera.ray(pixel_centre(x, y))));
      }
      ReprojectedBlock found{};
      reproject(points, view.cam_from_world, view, options, found);
      for (int k = 0; k < points.count; ++k) {
        const Reprojection step =
            reprojection_step(view.camera, view.cam_from_world, {points.x[k], points.y[k], points.z[k]},
                              view.depth.data, view.depth.pitch);
        const double depth = static_cast<double>(step.found),
                     share = static_cast<double>(options.max_relative_depth);
        ASSERT_EQ(found.x[k], step.x);
        ASSERT_EQ(found.y[k], step.y);
        if (step.x >= 0) {
          ASSERT_EQ(found.u[k], step.position.x);
          ASSERT_EQ(found.v[k], step.position.y);
        }
        ASSERT_EQ(found.has_depth(k), !std::isnan(step.found));
        ASSERT_TRUE(std::isnan(step.found) || found.predicted[k] == step.predicted);
        ASSERT_EQ(found.agrees(k), depths_agree(step.predicted, depth, share));
        ASSERT_EQ(found.sees_through(k), sees_through(step.predicted, depth, share));
        agreeing += found.agrees(k), hidden += step.x < 0;
      }
    }
  }
  EXPECT_GT(agreeing, 1000);
  EXPECT_GT(hidden, 100);
}

TEST(Fuse, LeavesNoCracks) {
  for (const unsigned seed : {7u, 8u})
    for (const int spacing : {1, 2, 3}) {
      RotatedViews scene(seed, 3);
      FusionOptions options;
      options.agreement = {0.01f, 40.0f, 1, 1.0f};
      options.spacing = spacing;
      Collected cloud;
      fuse(scene.views, scene, options, cloud);
      expect_no_cracks(scene, cloud.points, options);
    }
}

/// The same points in the same order; means are sums of few doubles in another order: 1e-12, as floats 1e-6.
TEST(Fuse, EqualsTheTextbookForRotatedCameras) {
  for (const unsigned seed : {4u, 5u, 6u})
    for (const int spacing : {1, 2, 3}) {
      RotatedViews scene(seed);
      if (seed == 6) scene.smooth_some_normals();
      std::vector<FusionMaps> maps;
      for (const auto& one : scene.maps) maps.push_back(views_of(one));
      FusionOptions options;
      options.agreement = {0.01f, 40.0f, 1, 0.6f};
      if (seed == 6) options.agreement = {0.01f, 15.0f, 1, 0.6f, true};
      options.min_views = 2;
      options.spacing = spacing;
      Collected cloud;
      fuse(scene.views, scene, options, cloud);
      const std::vector<reference::CloudPoint> expected = reference::fused_points(scene.views, maps, options);
      ASSERT_EQ(cloud.points.size(), expected.size()) << "spacing " << spacing;
      EXPECT_GT(expected.size(), 100u);
      std::size_t merged = 0, lone = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const reference::CloudPoint &a = cloud.points[i], &b = expected[i];
        ASSERT_EQ(a.views, b.views) << i;
        ASSERT_LT(norm(a.position - b.position), 1e-12) << i;
        ASSERT_NEAR(a.normal.x, b.normal.x, 1e-6f) << i;
        ASSERT_NEAR(a.normal.y, b.normal.y, 1e-6f) << i;
        ASSERT_NEAR(a.normal.z, b.normal.z, 1e-6f) << i;
        ASSERT_EQ(a.colour, b.colour) << i;
        ASSERT_NEAR(a.confidence, b.confidence, 1e-6f) << i;
        merged += a.views.size() > 2;
        lone += a.views.size() == 1;
      }
      EXPECT_GT(lone, 20u);
      EXPECT_GT(merged, expected.size() / 10);
    }
}

/// Maps of a wall with noisy normals; two thirds of it count, as far as depths and confidences go.
std::shared_ptr<OwnedMaps> noisy_wall(int width, double spread, std::mt19937& random) {
  constexpr int kHeight = 53;
  const auto maps = std::make_shared<OwnedMaps>(
      OwnedMaps{Image<float>(width, kHeight, 2.0f), Image<Vec3f>(width, kHeight),
                Image<float>(width, kHeight, 0.8f), Image<Rgb8>(width, kHeight, Rgb8{})});
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < width; ++x) {
      // What does not count has much more noise.
      const bool unsure = y > 40, scattered = y < 8;
      if (unsure) maps->confidence(x, y) = 0.6f;
      if (scattered) maps->depth(x, y) = static_cast<float>(2 + uniform(random));
      const double tilt = unsure || scattered ? 3 : spread;
      maps->normal(x, y) = as_floats(normalized(Vec3d{tilt * uniform(random), tilt * uniform(random), -1}));
      if (x % 7 == 3) maps->normal(x, y).x = kUnknown;
      if (x % 11 == 5) maps->depth(x, y) = kUnknown;
    }
  return maps;
}

TEST(NormalNoise, IsTheMedianAngleOfSureSurfaces) {
  std::mt19937 random(3);
  for (const double spread : {0.0, 0.05, 0.3})
    for (const int width : {40, 97, 640}) {
      const FusionMaps maps = views_of(noisy_wall(width, spread, random));
      const float noise = normal_noise(maps.depth, maps.normal, maps.confidence);
      EXPECT_NEAR(noise, reference::normal_noise(maps), 1e-4f);
      if (spread > 0)
        EXPECT_NEAR(static_cast<double>(noise), 57.3 * spread, 17 * spread);
      else
        EXPECT_LT(noise, 0.1f);
    }
}

TEST(NormalNoise, OfFewNormalsIsNone) {
  std::mt19937 random(4);
  for (const int width : {1, 4, 100}) {
    const auto wall = noisy_wall(width, 0.3, random);
    if (width == 100) wall->normal.fill({kUnknown, 0, -1});
    EXPECT_EQ(normal_noise(wall->depth.view(), wall->normal.view(), wall->confidence.view()), 0) << width;
  }
}

}  // namespace
}  // namespace recon
