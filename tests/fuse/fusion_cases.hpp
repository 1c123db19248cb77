#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fuse/agreement.hpp"
#include "fuse/fusion.hpp"
#include "reference/fusion_reference.hpp"

namespace recon {

/// The maps of a view that a test owns and changes.
struct OwnedMaps {
  Image<float> depth;
  Image<Vec3f> normal;
  Image<float> confidence;
  Image<Rgb8> colour;
};

inline FusionMaps views_of(const std::shared_ptr<const OwnedMaps>& maps) {
  return {maps->depth.view(), maps->normal.view(), maps->confidence.view(), maps->colour.view(), {maps}, {}};
}

/// Parallel cameras in front of the plane z = 2; view i is at x = 0.1 i.
struct PlaneViews : FusionMapLoader {
  explicit PlaneViews(int count, int height = 30) {
    for (int i = 0; i < count; ++i) {
      FusionView view{{40, height, 40, 40, 20, 15}, {}, {}};
      view.cam_from_world.translation = {-0.1 * i, 0, 0};
      for (int j = 0; j < count; ++j)
        if (j != i) view.neighbours.push_back(j);
      views.push_back(view);
      auto m = std::make_shared<OwnedMaps>();
      m->depth = Image<float>(40, height, 2.0f);
      m->normal = Image<Vec3f>(40, height, Vec3f{0, 0, -1});
      m->confidence = Image<float>(40, height, 0.5f);
      m->colour = Image<Rgb8>(40, height, Rgb8{static_cast<std::uint8_t>(10 * i), 20, 30});
      maps.push_back(m);
    }
  }
  std::shared_ptr<const FusionMaps> load(int view) override {
    ++loads;
    const auto m = maps[static_cast<std::size_t>(view)];
    if (!m) return nullptr;
    return std::make_shared<const FusionMaps>(views_of(m));
  }
  DepthView depth_view(int i) const {
    const auto k = static_cast<std::size_t>(i);
    return {views[k].camera, views[k].cam_from_world, maps[k]->depth.view(), maps[k]->normal.view(),
            maps[k]->confidence.view()};
  }

  std::vector<FusionView> views;
  std::vector<std::shared_ptr<OwnedMaps>> maps;
  int loads = 0;
};

inline Vec3f as_floats(Vec3d v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}

inline Mat3d rotation(double a, double b, double c) {
  const Mat3d x{{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
  const Mat3d y{{std::cos(b), 0, std::sin(b), 0, 1, 0, -std::sin(b), 0, std::cos(b)}};
  const Mat3d z{{std::cos(c), -std::sin(c), 0, std::sin(c), std::cos(c), 0, 0, 0, 1}};
  return x * y * z;
}

/// Cameras of different sizes that see the slanted plane n X = 2 with a nearer patch, with noise in depth,
/// normals and colours, and unknown pixels.
struct RotatedViews : FusionMapLoader {
  static constexpr int kCount = 5;
  inline static const Vec3d kNormal = normalized(Vec3d{0.2, -0.1, 1.0});  ///< of the plane

  explicit RotatedViews(unsigned seed, int size = 1) : random_(seed) {
    for (int i = 0; i < kCount; ++i) {
      // One has rows of more points than are reprojected at once.
      const int scale = i == 1 ? 4 : size;
      FusionView view{
          {scale * 37 + i, scale * 29 - i, scale * 40.0 + i, scale * 43.0, scale * 18.2, scale * 14.9},
          {},
          {}};
      view.cam_from_world.rotation =
          rotation(0.25 * uniform(), 0.25 * uniform(), i == 3 ? M_PI / 2 : 0.6 * uniform());
      view.cam_from_world.translation = {0.4 * uniform(), 0.4 * uniform(), 0.2 * uniform()};
      for (int j = 0; j < kCount; ++j)
        if (j != i) view.neighbours.push_back(j);
      views.push_back(view);
      maps.push_back(std::make_shared<OwnedMaps>(maps_of(view)));
    }
  }

  std::shared_ptr<const FusionMaps> load(int view) override {
    ++loads;
    if (!maps[static_cast<std::size_t>(view)]) return nullptr;
    return std::make_shared<const FusionMaps>(views_of(maps[static_cast<std::size_t>(view)]));
  }
  void device_failed(const Error& error) override { failures.push_back(error.what()); }

  DepthView depth_view(std::size_t i) const {
    return {views[i].camera, views[i].cam_from_world, maps[i]->depth.view(), maps[i]->normal.view(),
            maps[i]->confidence.view()};
  }

  /// Gives some of the views normals without noise.
  void smooth_some_normals() {
    for (const std::size_t i : {0u, 2u})
      for (int y = 0; y < maps[i]->normal.height(); ++y)
        for (int x = 0; x < maps[i]->normal.width(); ++x)
          maps[i]->normal(x, y) = as_floats(views[i].cam_from_world.rotation * -kNormal);
  }

  std::vector<FusionView> views;
  std::vector<std::shared_ptr<OwnedMaps>> maps;
  int loads = 0;
  std::vector<std::string> failures;  ///< of the device

 private:
  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::uint8_t grey() { return static_cast<std::uint8_t>(127 + 120 * uniform()); }

  OwnedMaps maps_of(const FusionView& view) {
    const Pinhole& camera = view.camera;
    const Pose world_from_cam = inverse(view.cam_from_world);
    OwnedMaps result{Image<float>(camera.width, camera.height), Image<Vec3f>(camera.width, camera.height),
                     Image<float>(camera.width, camera.height), Image<Rgb8>(camera.width, camera.height)};
    const Vec3d n = kNormal;
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
        result.normal(x, y) =
            as_floats(view.cam_from_world.rotation *
                      normalized(-n + (outlier ? 2.0 : 0.3) * Vec3d{uniform(), uniform(), uniform()}));
        if (uniform() > 0.9) result.normal(x, y) = {kUnknown, kUnknown, kUnknown};
        result.confidence(x, y) = static_cast<float>(0.5 + 0.5 * uniform());
        result.colour(x, y) = {grey(), grey(), grey()};
      }
    return result;
  }

  std::mt19937 random_;
};

/// Collects all points, and fails where a slot is not used as PointSink says.
struct Collected : PointSink {
  void reserve(int count) override {
    for (const auto& slot : slots) EXPECT_FALSE(slot) << "a slot is not free";
    slots.resize(static_cast<std::size_t>(count));
  }
  void keep(int slot, const FusedPoints& fused) override {
    auto& kept = slots.at(static_cast<std::size_t>(slot));
    EXPECT_FALSE(kept) << "slot " << slot << " is not free";
    kept.emplace();
    fused.visit([&](const FusedPoint& point, std::span<const std::uint32_t> views) {
      kept->push_back({point, {views.begin(), views.end()}});
    });
  }
  void add(int slot) override {
    auto& kept = slots.at(static_cast<std::size_t>(slot));
    ASSERT_TRUE(kept) << "nothing is in slot " << slot;
    points.insert(points.end(), kept->begin(), kept->end());
    kept.reset();
  }
  std::vector<std::optional<std::vector<reference::CloudPoint>>> slots;
  std::vector<reference::CloudPoint> points;
};

/// Equal to the bit and in the same order.
inline void expect_same_points(const Collected& found, const Collected& expected) {
  ASSERT_EQ(found.points.size(), expected.points.size());
  for (std::size_t i = 0; i < expected.points.size(); ++i) {
    const reference::CloudPoint &a = found.points[i], &b = expected.points[i];
    ASSERT_TRUE(a.position.x == b.position.x && a.position.y == b.position.y && a.position.z == b.position.z)
        << i;
    ASSERT_TRUE(a.normal.x == b.normal.x && a.normal.y == b.normal.y && a.normal.z == b.normal.z) << i;
    ASSERT_EQ(a.colour, b.colour) << i;
    ASSERT_EQ(a.confidence, b.confidence) << i;
    ASSERT_EQ(a.view_count, b.view_count) << i;
    ASSERT_EQ(a.views, b.views) << i;
  }
}

/// Whether a depth would start a point if no earlier point had used its pixel.
inline bool qualifies(const RotatedViews& scene, std::size_t i, int x, int y, const FusionOptions& options) {
  const DepthView view = scene.depth_view(i);
  const double z = static_cast<double>(view.depth(x, y));
  if (std::isnan(z) || std::isnan(view.normal(x, y).x)) return false;
  const Pose world_from_cam = inverse(view.cam_from_world);
  const Vec3d point = world_from_cam * (z * view.camera.ray(pixel_centre(x, y)));
  const Vec3d normal = world_from_cam.rotation * widened(view.normal(x, y));
  const double share = static_cast<double>(options.agreement.max_relative_depth);
  int agreeing = 1, through = 0;
  for (const int j : scene.views[i].neighbours) {
    const DepthView other = scene.depth_view(static_cast<std::size_t>(j));
    const Reprojection seen =
        reprojection_step(other.camera, other.cam_from_world, point, other.depth.data, other.depth.pitch);
    const auto found = static_cast<double>(seen.found);
    through += sees_through(seen.predicted, found, share);
    if (!depths_agree(seen.predicted, found, share)) continue;
    const Vec3d same = inverse(other.cam_from_world).rotation * widened(other.normal(seen.x, seen.y));
    agreeing += normals_agree(normal, same, min_cosine(options.agreement, 0));
  }
  return agreeing >= options.min_views && through < agreeing;
}

/// Expects of the pixels that qualify at most 0.1 % without a point of the cloud within their footprint: the
/// spacing in x and y. Noise may move a point by a tenth of a pixel from where it started.
inline void expect_no_cracks(const RotatedViews& scene, const std::vector<reference::CloudPoint>& points,
                             const FusionOptions& options) {
  const double reach = options.spacing + 0.1;
  int qualifying = 0, without = 0;
  for (std::size_t i = 0; i < RotatedViews::kCount; ++i) {
    const DepthView view = scene.depth_view(i);
    Image<std::uint8_t> covered(view.depth.width, view.depth.height, 0);
    for (const reference::CloudPoint& point : points) {
      const Vec3d seen = view.cam_from_world * point.position;
      if (seen.z <= 0) continue;
      const Vec2d at = view.camera.project(seen);
      for (int y = static_cast<int>(at.y - reach) - 1; y <= at.y + reach; ++y)
        for (int x = static_cast<int>(at.x - reach) - 1; x <= at.x + reach; ++x)
          if (covered.view().contains(x, y) && std::abs(x + 0.5 - at.x) <= reach &&
              std::abs(y + 0.5 - at.y) <= reach &&
              depths_agree(seen.z, static_cast<double>(view.depth(x, y)), 0.03))
            covered(x, y) = 1;
    }
    for (int y = 0; y < covered.height(); ++y)
      for (int x = 0; x < covered.width(); ++x) {
        if (!qualifies(scene, i, x, y, options)) continue;
        ++qualifying;
        without += covered(x, y) == 0;
      }
  }
  EXPECT_GT(qualifying, 1000);
  EXPECT_LE(without, qualifying / 1000) << "of " << qualifying << " at spacing " << options.spacing;
}

}  // namespace recon
