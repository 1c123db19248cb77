#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "cuda/device/volume.hpp"
#include "match/pair_side.hpp"

namespace recon::cuda {

/// Queues grey_of for every pixel.
/// @param pixels, grey  `width` x `height`, rows without padding
/// @throws DeviceError
void queue_grey(const Rgb8* pixels, int width, int height, std::uint8_t* grey, cudaStream_t stream);

/// Inputs of the costs of one view of a pair, on the device; rows without padding.
struct ColourCosts {
  const Rgb8 *reference, *source;                         ///< the view, and the other one
  const std::uint64_t *reference_census, *source_census;  ///< of grey_of, 9 x 7; null: colours only
  const float *by_sum, *by_bits;                          ///< recon::CostTables
  PairSide side;                                          ///< the view
  int min_disparity;                                      ///< of plane 0, pixels
};

/// Queues the costs of recon::ad_census_costs, or without censuses of colour_difference_costs: bit-identical,
/// because both read the same tables. Source: X. Mei et al. 2011, section 2.1.
/// @param[out] costs  (y, d, x), of the images' size, any number of planes; overwritten completely
/// @throws DeviceError
void queue_colour_costs(const ColourCosts& views, const DeviceVolume& costs, cudaStream_t stream);

}  // namespace recon::cuda
