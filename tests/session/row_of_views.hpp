#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "scene/camera.hpp"
#include "scene/scene.hpp"
#include "session/options/options.hpp"

namespace recon {

/// Views "v0" … in a row along x, 0.2 apart, that look along z at points at depth 4; ids fall as names rise.
inline Scene row_of_views(int count, const Camera& camera) {
  Scene scene;
  scene.camera_ids = {7};
  scene.cameras = {camera};
  for (int i = 0; i < count; ++i) {
    View view;
    view.id = static_cast<std::uint32_t>(100 - i);
    view.name = "v" + std::to_string(i) + ".png";
    view.cam_from_world.translation = {-0.2 * i, 0, 0};
    scene.views.push_back(view);
  }
  for (int p = 0; p < 60; ++p) {
    SparsePoint point;
    point.id = static_cast<std::uint64_t>(p + 1);
    point.position = {0.1 * (p % 10) - 0.2, 0.1 * (p / 10) - 0.25, 4.0 + 0.01 * p};
    for (int i = 0; i < count; ++i) {
      View& view = scene.views[static_cast<std::size_t>(i)];
      const auto pixel = Lens(camera).project(view.cam_from_world * point.position);
      if (!pixel || pixel->x < 0 || pixel->y < 0 || pixel->x > camera.width || pixel->y > camera.height)
        continue;
      point.track.push_back({i, static_cast<std::uint32_t>(view.observations.size())});
      view.observations.push_back({*pixel, point.id});
    }
    scene.points.push_back(std::move(point));
  }
  return scene;
}

inline const Camera kPinholeCamera{CameraModel::kPinhole, 200, 150, {150, 150, 100, 75}};
inline const Camera kRadialCamera{CameraModel::kSimpleRadial, 200, 150, {150, 100, 75, 0.08}};

inline SessionOptions options_with(int shard_index = 1, int shard_count = 1) {
  SessionOptions options;
  options.planes = 16;
  options.shard = {shard_index, shard_count};
  return options;
}

/// Every track element has to point at an observation of its point.
inline void expect_consistent(const Scene& scene) {
  std::size_t elements = 0, observations = 0;
  for (const SparsePoint& point : scene.points)
    for (const TrackElement& element : point.track) {
      const View& view = scene.views.at(static_cast<std::size_t>(element.view));
      EXPECT_EQ(view.observations.at(element.observation).point_id, point.id);
      ++elements;
    }
  for (const View& view : scene.views)
    for (const Observation& observation : view.observations) observations += observation.point_id != kNoPoint;
  EXPECT_EQ(elements, observations);
}

}  // namespace recon
