#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "fuse/fusion_step.hpp"
#include "scene/pinhole.hpp"
#include "scene/pose.hpp"

namespace recon::cuda {

/// A view that is fused, or a neighbour, in device memory; rows concatenated. Kernels write to `used` alone.
struct DeviceFusionView {
  Pinhole camera;
  Pose cam_from_world, world_from_cam;
  float* depth;
  Vec3f* normal;
  float* confidence;
  Rgb8* colour;
  std::uint32_t* used;  ///< see UsedPixels; null if no point starts there any more
  std::uint32_t index;
  double min_cosine = -1;  ///< of a neighbour: of the angle between its normals and those of the view
};

/// Numbers of a row's points and of their views; or the sums of those of all rows before it, modulo 2^32.
struct RowCounts {
  std::uint32_t points, views;
};

/// A point: the pixel where it starts, x + width y, and the place of its first view in the list of all views,
/// modulo 2^32.
struct ListedPoint {
  std::uint32_t pixel, first_view;
};

/// The fusion of one view. "Place": of a pixel in its row, ordered by x modulo the spacing, then by x.
struct DeviceFusionJob {
  const DeviceFusionView* views;  ///< the view, then its neighbours
  const int* ascending;           ///< these by ascending index
  int view_count;
  int width, height;  ///< of the view
  PointCriteria criteria;
  double max_relative_depth;  ///< of these criteria
  int spacing;
  std::uint16_t* view_counts;  ///< per row and place: the number of views of the point, 0: none
  RowCounts* rows;
  ListedPoint* points;
};

/// Decides which pixels start points, marks the pixels that these use, and sets `view_counts` and `rows`.
/// @throws DeviceError
void launch_decisions(const DeviceFusionJob& job, cudaStream_t stream);

/// Lists the points in their order. `rows` are sums now. @throws DeviceError
void launch_point_list(const DeviceFusionJob& job, cudaStream_t stream);

/// Computes `count` points from the `first` of the list on, and their views.
/// @param first_view  place of their first view in the list of all, modulo 2^32
/// @throws DeviceError
void launch_points(const DeviceFusionJob& job, std::uint32_t first, std::uint32_t count,
                   std::uint32_t first_view, FusedPoint* points, std::uint32_t* views, cudaStream_t stream);

}  // namespace recon::cuda
