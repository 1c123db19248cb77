#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/refine/outliers.hpp"

namespace recon::cuda {

/// Scratch memory for surfaces.
struct SurfaceScratch {
  float* reliable;  ///< one per pixel
  int* labels;      ///< one per pixel
  int* sizes;       ///< one per pixel
  int* count;
};

/// Queues recon::invalidate_small_segments and then recon::extend_surfaces. Labels come from union-find with
/// the min pixel as root. The results are equal for integer disparities, whose sums are exact; otherwise
/// planes differ by rounding. @throws DeviceError
void queue_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

/// The two steps of queue_surfaces; the second one reads `reliable` from the first.
void queue_small_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, int min_size,
                          cudaStream_t stream);
void queue_extension(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

}  // namespace recon::cuda
