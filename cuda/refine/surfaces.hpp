#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/refine/outliers.hpp"

namespace recon::cuda {

/// Scratch memory for surfaces; images by (y, x) without padding.
struct SurfaceScratch {
  float* reliable;  ///< disparities of reliable pixels, NaN elsewhere
  int* labels;      ///< the least pixel of the surface, x + width y
  int* sizes;       ///< pixels of a surface, at its least pixel
  int* count;       ///< one number
};

/// Queues recon::invalidate_small_segments and then recon::extend_surfaces. Labels come from union-find with
/// the min pixel as root. The results are equal for integer disparities, whose sums are exact; otherwise
/// planes differ by rounding. @throws DeviceError
void queue_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

/// Queues the sizes of the surfaces of all known pixels; see SurfaceScratch.
/// @param disparity  rows without padding; unchanged
/// @param enough     sizes from this on are not exact
/// @throws DeviceError
void queue_surface_sizes(float* disparity, int width, int height, int enough, int* labels, int* sizes,
                         cudaStream_t stream);

/// The two steps of queue_surfaces; the second one reads `reliable` from the first.
/// @param min_size  pixels of a surface that stays
/// @throws DeviceError
void queue_small_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, int min_size,
                          cudaStream_t stream);
void queue_extension(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

}  // namespace recon::cuda
