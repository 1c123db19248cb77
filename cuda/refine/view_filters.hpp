#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "refine/view_filter_step.hpp"

/// What follows the sweep of a view: the filters of recon::filter_estimate, and recon::keep_within.

namespace recon::cuda {

/// Depth, cost and confidence of a view, rows `pitch` elements apart.
struct ViewMaps {
  const float* depth;
  const float* cost;
  const float* confidence;
  std::ptrdiff_t pitch;
  int width, height;
};

/// Which depths of a view are trusted; see recon::PhotometricFilterOptions.
struct TrustLimits {
  float max_cost, min_confidence, min_texture;
  int window;                      ///< of the texture, pixels
  const std::uint8_t* channel[3];  ///< of the reference, null from its number on; for the texture
  std::ptrdiff_t channel_pitch;    ///< bytes
  const std::uint8_t* mask;        ///< 0 where it is ignored; null: nowhere
  std::ptrdiff_t mask_pitch;       ///< bytes
};

/// Queues the copy of the depths that are trusted; others become unknown.
/// @param[out] trusted  rows without padding
/// @throws DeviceError
void launch_trusted(const ViewMaps& maps, const TrustLimits& limits, float* trusted, cudaStream_t stream);

/// Queues recon::remove_speckles; the results are equal.
/// @param depth          rows without padding, changed
/// @param labels, sizes  scratch memory of a number for each pixel
/// @throws DeviceError
void queue_remove_speckles(float* depth, int width, int height, int min_size, float max_relative_step,
                           int* labels, int* sizes, cudaStream_t stream);

/// Queues what stays of the depths within bounds, in place, and with it the confidences as files have them;
/// those of unknown depths are unknown.
/// @param depth  rows without padding
/// @param[out] confidence  the same; null: none
/// @throws DeviceError
void launch_kept(const ViewMaps& maps, const KeptDepths& kept, float* depth, float* confidence,
                 cudaStream_t stream);

}  // namespace recon::cuda
