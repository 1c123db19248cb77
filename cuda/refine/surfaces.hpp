#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/refine/outliers.hpp"

namespace recon::cuda {

/// Scratch memory for surfaces.
struct SurfaceScratch {
  float* reliable;  ///< one a pixel
  int* labels;      ///< one a pixel
  int* sizes;       ///< one a pixel
  int* count;

  /// Bytes from one piece to the next are the caller's affair.
  static constexpr std::size_t kBytesPerPixel = 3 * sizeof(int);
};

/// Queues recon::invalidate_small_segments and then recon::extend_surfaces. Labels are found by joining trees
/// whose roots are their least pixels. The results are equal where disparities are whole numbers, whose sums
/// are exact; else planes differ by their rounding. @throws DeviceError
void queue_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

/// The two steps of queue_surfaces; the second one takes `reliable` from the first.
void queue_small_surfaces(const LabelledMap& map, const SurfaceScratch& scratch, int least,
                          cudaStream_t stream);
void queue_extension(const LabelledMap& map, const SurfaceScratch& scratch, cudaStream_t stream);

}  // namespace recon::cuda
