#pragma once

#include "methods/backend.hpp"

namespace recon {

/// Shares of pixels that block matching finds a disparity for in images of half the size.
struct OrderShares {
  double as_given = 0;
  double swapped = 0;  ///< with left and right exchanged

  /// Whether far more of the images matches the other way round. A pair in the wrong order still matches by
  /// chance, more so the fewer disparities are searched.
  bool seem_swapped() const { return as_given < 0.7 * swapped; }
};

/// Matches the 8-bit images both ways, with the disparities of `range`, halved. Much cheaper than any method
/// on the images as they are.
/// @throws OutOfMemory, DeviceError
OrderShares compare_orders(Backend& backend, const GreyPair& images, DisparityRange range);

/// Max memory of `compare_orders`, without `images`.
/// @throws OutOfMemory when that exceeds the limits of the backend
WorkMemory compare_orders_memory(const Backend& backend, int width, int height, DisparityRange range);

}  // namespace recon
