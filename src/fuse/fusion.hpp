#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "fuse/consistency.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon {

/// The checked maps of one view, as fusion reads them; all of the camera's size, unknown is NaN.
struct FusionMaps {
  Image<float> depth;
  Image<Vec3f> normal;
  Image<float> confidence;
  Image<Rgb8> colour;
};

/// A view to fuse: its geometry, and the indices of the views that may see the same surface.
struct FusionView {
  Pinhole camera;
  Pose cam_from_world;
  std::vector<int> neighbours;
};

/// Loads the maps of a view when fusion needs them. Called from one thread at a time.
class FusionMapLoader {
 public:
  virtual ~FusionMapLoader() = default;
  /// A null pointer when the view has no maps (it failed): it is then left out.
  virtual std::shared_ptr<const FusionMaps> load(int view) = 0;
};

/// One point of the cloud.
struct FusedPoint {
  Vec3d position;  ///< world
  Vec3f normal;    ///< world, unit
  Rgb8 colour;
  float confidence;                  ///< [0, 1]
  std::vector<std::uint32_t> views;  ///< indices of the views that agree, rising
};

/// Takes the points in their final order.
class PointSink {
 public:
  virtual ~PointSink() = default;
  virtual void add(const std::vector<FusedPoint>& points) = 0;
};

struct FusionOptions {
  ConsistencyOptions agreement;       ///< when a depth of another view belongs to the same point
  int min_views = 2;                  ///< views, the first included, that a point needs
  int spacing = 1;                    ///< pixels between the points of a view, 1..8
  std::size_t max_cached_views = 64;  ///< maps held in memory at a time, at least 2
};

/// Bands of rows of a view whose points are held at a time where `spacing` is 1.
inline constexpr int kFusionBands = 8;

/// Merges depth maps into points, view by view in the order of `views`. A point takes the depths of other
/// views that agree with its own, at the one pixel of each into which it falls; it uses up the pixels of the
/// same surface less than `spacing` pixels around it in its own view and, as positions are rounded there, up
/// to `spacing` pixels in the others. A pixel that is used up starts no point. Dropped are points that as
/// many views look through as agree on it. Memory: the maps of a view and its neighbours, one bit a pixel of
/// every view, and the points of a view or, with a spacing of 1, of a band of it. Determinism: the same
/// points in the same order for any number of threads.
/// @returns the number of points
std::uint64_t fuse(const std::vector<FusionView>& views, FusionMapLoader& loader,
                   const FusionOptions& options, PointSink& sink);

}  // namespace recon
