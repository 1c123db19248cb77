#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/camera.hpp"
#include "scene/pose.hpp"
#include "scene/shared_vector.hpp"

namespace recon {

inline constexpr std::uint64_t kNoPoint = std::numeric_limits<std::uint64_t>::max();

/// An observed feature of a view: its pixel coordinates, and the id of its point or kNoPoint.
struct Observation {
  Vec2d pixel{0, 0};
  std::uint64_t point_id = kNoPoint;
};

/// One photo: its name relative to the image folder, its camera (index into Scene::cameras) and pose.
struct View {
  std::uint32_t id = 0;
  std::string name;
  int camera = 0;
  Pose cam_from_world;
  SharedVector<Observation> observations;
};

/// One element of a point's track: the view (index into Scene::views) and the index into its observations.
struct TrackElement {
  int view = 0;
  std::uint32_t observation = 0;
};

/// A triangulated point of structure from motion; `error` is its mean reprojection error in pixels.
struct SparsePoint {
  std::uint64_t id = 0;
  Vec3d position{0, 0, 0};
  Rgb8 colour{0, 0, 0};
  double error = 0;
  std::vector<TrackElement> track;
};

/// A calibrated scene. Views are sorted by name, so that all later stages have a fixed order.
struct Scene {
  std::vector<std::uint32_t> camera_ids;  ///< COLMAP's id of each camera
  std::vector<Camera> cameras;
  std::vector<View> views;
  SharedVector<SparsePoint> points;
  std::vector<std::string> warnings;  ///< what was ignored while reading the model, and why
};

}  // namespace recon
