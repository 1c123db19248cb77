#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace recon {

/// A rotation is converted through a unit quaternion, whose products accumulate the rounding of a dozen
/// operations.
inline constexpr double kRotationTolerance = 4e-15;

inline void expect_same(Vec3d a, Vec3d b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
}

inline void expect_same(const View& a, const View& b) {
  SCOPED_TRACE(b.name);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.camera, b.camera);
  expect_same(a.cam_from_world.translation, b.cam_from_world.translation);
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(a.cam_from_world.rotation.m[i], b.cam_from_world.rotation.m[i], kRotationTolerance);
  ASSERT_EQ(a.observations.size(), b.observations.size());
  for (std::size_t i = 0; i < a.observations.size(); ++i) {
    EXPECT_EQ(a.observations[i].pixel.x, b.observations[i].pixel.x);
    EXPECT_EQ(a.observations[i].pixel.y, b.observations[i].pixel.y);
    EXPECT_EQ(a.observations[i].point_id, b.observations[i].point_id);
  }
}

inline void expect_same(const SparsePoint& a, const SparsePoint& b) {
  EXPECT_EQ(a.id, b.id);
  expect_same(a.position, b.position);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.error, b.error);
  ASSERT_EQ(a.track.size(), b.track.size());
  for (std::size_t i = 0; i < a.track.size(); ++i) {
    EXPECT_EQ(a.track[i].view, b.track[i].view);
    EXPECT_EQ(a.track[i].observation, b.track[i].observation);
  }
}

inline void expect_same(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.camera_ids, b.camera_ids);
  ASSERT_EQ(a.cameras.size(), b.cameras.size());
  for (std::size_t i = 0; i < a.cameras.size(); ++i) {
    EXPECT_EQ(a.cameras[i].model, b.cameras[i].model);
    EXPECT_EQ(a.cameras[i].width, b.cameras[i].width);
    EXPECT_EQ(a.cameras[i].height, b.cameras[i].height);
    EXPECT_EQ(a.cameras[i].params, b.cameras[i].params);
  }
  ASSERT_EQ(a.views.size(), b.views.size());
  for (std::size_t i = 0; i < a.views.size(); ++i) expect_same(a.views[i], b.views[i]);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) expect_same(a.points[i], b.points[i]);
}

/// Requires the same cameras and poses, and the same photos: those of `b` in `folder`. Ids may differ.
inline void expect_same_views(const Scene& a, const Scene& b, const std::string& folder, double tolerance) {
  ASSERT_EQ(a.views.size(), b.views.size());
  EXPECT_EQ(a.cameras.size(), b.cameras.size());
  EXPECT_TRUE(a.points.empty());
  EXPECT_TRUE(a.warnings.empty());
  for (std::size_t i = 0; i < a.views.size(); ++i) {
    SCOPED_TRACE(b.views[i].name);
    EXPECT_EQ(a.views[i].name, folder + b.views[i].name);
    const Camera& camera = a.cameras.at(static_cast<std::size_t>(a.views[i].camera));
    const Camera& expected = b.cameras.at(static_cast<std::size_t>(b.views[i].camera));
    EXPECT_EQ(camera.model, expected.model);
    EXPECT_EQ(camera.width, expected.width);
    EXPECT_EQ(camera.height, expected.height);
    EXPECT_EQ(camera.params, expected.params);
    const Pose &pose = a.views[i].cam_from_world, &same = b.views[i].cam_from_world;
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(pose.rotation.m[k], same.rotation.m[k], tolerance);
    EXPECT_NEAR(pose.translation.x, same.translation.x, tolerance);
    EXPECT_NEAR(pose.translation.y, same.translation.y, tolerance);
    EXPECT_NEAR(pose.translation.z, same.translation.z, tolerance);
    EXPECT_TRUE(a.views[i].observations.empty());
  }
}

/// The scene with cameras and points in the order of their ids: COLMAP writes them in the order of its hash
/// tables.
inline Scene in_order_of_ids(Scene scene) {
  std::vector<std::size_t> order(scene.cameras.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scene.camera_ids[a] < scene.camera_ids[b]; });
  Scene sorted;
  std::vector<int> new_index(order.size());
  for (const std::size_t old : order) {
    new_index[old] = static_cast<int>(sorted.cameras.size());
    sorted.camera_ids.push_back(scene.camera_ids[old]);
    sorted.cameras.push_back(scene.cameras[old]);
  }
  sorted.views = std::move(scene.views);
  for (View& view : sorted.views) view.camera = new_index[static_cast<std::size_t>(view.camera)];
  sorted.points = std::move(scene.points);
  std::vector<SparsePoint>& points = sorted.points.edit();
  std::sort(points.begin(), points.end(),
            [](const SparsePoint& a, const SparsePoint& b) { return a.id < b.id; });
  return sorted;
}

}  // namespace recon
