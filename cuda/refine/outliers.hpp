#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "match/cross_arms_step.hpp"
#include "refine/outlier_step.hpp"

namespace recon::cuda {

/// The left map of a pair, whose outliers are filled on the device, as in refine/outliers.hpp of the host;
/// all images by (y, x) without padding.
struct LabelledMap {
  float* disparity;    ///< pixels, NaN: unknown
  Outlier* outliers;   ///< changed by the check and by what repairs
  const float* right;  ///< D_R
  int width, height;   ///< pixels
  int min, count;      ///< disparities: min <= d < min + count

  RECON_HD std::ptrdiff_t pixels() const { return static_cast<std::ptrdiff_t>(width) * height; }
};

/// Queues recon::left_right_check, which sets the outliers. The results are equal.
/// @param tolerance  max difference of agreeing disparities, pixels, >= 0
/// @throws DeviceError
void queue_left_right_check(const LabelledMap& map, float tolerance, cudaStream_t stream);

/// The outliers of a map, in any order.
struct OutlierList {
  int* pixels;  ///< x + width y, with space for every pixel of the map
  int* count;   ///< one number
};

/// Queues the creation of the list. @throws DeviceError
void queue_outlier_list(const LabelledMap& map, const OutlierList& list, cudaStream_t stream);

/// Inputs of a vote.
struct RegionVote {
  const Cross* crosses;  ///< of the left image, rows without padding, aligned to 4 bytes
  std::int16_t* bins;    ///< one per pixel, scratch memory
  int min_votes;         ///< this and what follows: see recon::VotingOptions
  float min_share;
  int iterations;
};

/// Queues recon::vote_in_regions with the right map's veto, over the pixels of the list, which contains all
/// outliers; at most 4096 disparities. The results are equal. @throws DeviceError
void queue_votes(const LabelledMap& map, const OutlierList& list, const RegionVote& vote,
                 cudaStream_t stream);

/// Queues recon::interpolate_outliers with the right map over the pixels of the list that are still outliers.
/// The results are equal.
/// @param image  the left one, rows without padding
/// @throws DeviceError
void queue_interpolation(const LabelledMap& map, const OutlierList& list, const Rgb8* image,
                         cudaStream_t stream);

/// Queues the invalidation of all outliers: their disparities become NaN. @throws DeviceError
void queue_invalidate(const LabelledMap& map, cudaStream_t stream);

}  // namespace recon::cuda
