// The check across views and the fusion against textbook versions, with cameras rotated about all axes.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "fuse/fusion.hpp"
#include "fuse/reprojection.hpp"
#include "fusion_cases.hpp"

namespace recon {
namespace {

constexpr int kViews = 5;

Mat3d rotation(double a, double b, double c) {
  const Mat3d x{{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
  const Mat3d y{{std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b)}};
  const Mat3d z{{std::cos(c), -std::sin(c), 0, std::sin(c), std::cos(c), 0, 0, 0, 1}};
  return x * y * z;
}

/// Cameras of different sizes that see the slanted plane n X = 2 with a nearer patch, with noise in depth,
/// normals and colours, and unknown pixels.
struct RotatedViews : FusionMapLoader {
  explicit RotatedViews(unsigned seed) : random_(seed) {
    for (int i = 0; i < kViews; ++i) {
      // One has rows of more points than are reprojected at once.
      const int scale = i == 1 ? 4 : 1;
      FusionView view{
          {scale * 37 + i, scale * 29 - i, scale * 40.0 + i, scale * 43.0, scale * 18.2, scale * 14.9},
          {},
          {}};
      view.cam_from_world.rotation =
          rotation(0.25 * uniform(), 0.25 * uniform(), i == 3 ? M_PI / 2 : 0.6 * uniform());
      view.cam_from_world.translation = {0.4 * uniform(), 0.4 * uniform(), 0.2 * uniform()};
      for (int j = 0; j < kViews; ++j)
        if (j != i) view.neighbours.push_back(j);
      views.push_back(view);
      maps.push_back(std::make_shared<OwnedMaps>(maps_of(view)));
    }
  }

  std::shared_ptr<const FusionMaps> load(int view) override {
    return std::make_shared<const FusionMaps>(views_of(maps[static_cast<std::size_t>(view)]));
  }

  DepthView depth_view(std::size_t i) const {
    return {views[i].camera, views[i].cam_from_world, maps[i]->depth.view(), maps[i]->normal.view(),
            maps[i]->confidence.view()};
  }

  std::vector<FusionView> views;
  std::vector<std::shared_ptr<OwnedMaps>> maps;

 private:
  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::uint8_t grey() { return static_cast<std::uint8_t>(127 + 120 * uniform()); }

  OwnedMaps maps_of(const FusionView& view) {
    const Pinhole& camera = view.camera;
    const Pose world_from_cam = inverse(view.cam_from_world);
    OwnedMaps result{Image<float>(camera.width, camera.height), Image<Vec3f>(camera.width, camera.height),
                     Image<float>(camera.width, camera.height), Image<Rgb8>(camera.width, camera.height)};
    const Vec3d n = normalized(Vec3d{0.2, -0.1, 1.0});
    for (int y = 0; y < camera.height; ++y)
      for (int x = 0; x < camera.width; ++x) {
        const Vec3d ray = world_from_cam.rotation * camera.ray(pixel_centre(x, y));
        const Vec3d centre = world_from_cam.translation;
        double z = (2 - dot(n, centre)) / dot(n, ray);
        const Vec3d hit = centre + z * ray;
        if (std::abs(hit.x) < 0.2 && std::abs(hit.y) < 0.2) z *= 0.8;
        const bool outlier = uniform() > 0.9;
        result.depth(x, y) =
            uniform() > 0.9 ? kUnknown : static_cast<float>(z * (1 + (outlier ? 0.2 : 0.008) * uniform()));
        const Vec3d seen = view.cam_from_world.rotation *
                           normalized(-n + (outlier ? 2.0 : 0.3) * Vec3d{uniform(), uniform(), uniform()});
        result.normal(x, y) = {static_cast<float>(seen.x), static_cast<float>(seen.y),
                               static_cast<float>(seen.z)};
        if (uniform() > 0.9) result.normal(x, y) = {kUnknown, kUnknown, kUnknown};
        result.confidence(x, y) = static_cast<float>(0.5 + 0.5 * uniform());
        result.colour(x, y) = {grey(), grey(), grey()};
      }
    return result;
  }

  std::mt19937 random_;
};

/// Equal: in double precision no rounding decides a comparison of these random depths.
TEST(CountAgreement, EqualsTheTextbookForRotatedCameras) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const RotatedViews scene(seed);
    reference::Counts sum;
    int pixels = 0;
    for (std::size_t i = 0; i < kViews; ++i) {
      const DepthView view = scene.depth_view(i);
      std::vector<DepthView> sources;
      for (std::size_t j = 0; j < kViews; ++j)
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
          ASSERT_EQ(counts.hidden, expected.hidden) << "view " << i << " at " << x << " " << y;
          sum.known += expected.known, sum.agree += expected.agree;
          sum.through += expected.through, sum.hidden += expected.hidden;
          ++pixels;
        }
    }
    EXPECT_GT(sum.known, pixels) << "the case compares little";
    EXPECT_GT(sum.agree, sum.known / 4) << "the case rejects nearly all";
    EXPECT_GT(sum.through, sum.known / 50);
    EXPECT_GT(sum.hidden, sum.known / 50);
    EXPECT_GT(sum.known - sum.agree - sum.through - sum.hidden, 50) << "few normals decide";
  }
}

/// The vectors of the processor against the definition that a GPU computes with.
TEST(CountAgreement, EqualsTheStep) {
  const RotatedViews scene(4);
  const ConsistencyOptions options{0.01f, 40.0f, 1};
  for (std::size_t i = 0; i < kViews; ++i)
    for (std::size_t j = 0; j < kViews; ++j) {
      const DepthView view = scene.depth_view(i), source = scene.depth_view(j);
      const AgreementGeometry geometry =
          agreement_geometry(view.camera, view.cam_from_world, source.camera, source.cam_from_world, options);
      const SourcePixels pixels{source.depth.data, source.normal.data, source.depth.pitch,
                                source.normal.pitch};
      Image<Agreement> found(view.depth.width, view.depth.height, {});
      count_agreement(view, source, options, found.view());
      for (int y = 0; y < found.height(); ++y)
        for (int x = 0; x < found.width(); ++x) {
          const Agreement expected =
              agreement_step(geometry, x, y, view.depth(x, y), view.normal(x, y), pixels);
          ASSERT_EQ(std::bit_cast<std::uint32_t>(found(x, y)), std::bit_cast<std::uint32_t>(expected))
              << "views " << i << " and " << j << " at " << x << " " << y;
        }
    }
}

/// The same points in the same order; means are sums of few doubles in another order: 1e-12, as floats 1e-6.
TEST(Fuse, EqualsTheTextbookForRotatedCameras) {
  for (const unsigned seed : {4u, 5u})
    for (const int spacing : {1, 2, 3}) {
      RotatedViews scene(seed);
      std::vector<FusionMaps> maps;
      for (const auto& one : scene.maps) maps.push_back(views_of(one));
      FusionOptions options;
      options.agreement = {0.01f, 40.0f, 1, 0.6f};
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

}  // namespace
}  // namespace recon
