#pragma once

#include <cstddef>

#include "core/aligned_buffer.hpp"
#include "core/hd.hpp"

namespace recon::cuda {

/// Costs in device memory by (y, d, x), as recon::VolumeView: every (y, d) row starts at a multiple of 64
/// bytes.
struct DeviceVolume {
  float* data = nullptr;
  int width = 0, planes = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< floats from one (y, d) row to the next, a multiple of 16

  RECON_HD float* row(int y, int d) const {
    return data + (static_cast<std::ptrdiff_t>(y) * planes + d) * pitch;
  }
  RECON_HD bool empty() const { return width == 0 || planes == 0 || height == 0; }
};

/// A volume of this shape at `data`, which is aligned to 256 bytes.
inline DeviceVolume device_volume(float* data, int width, int planes, int height) {
  return {data, width, planes, height, padded_count<float>(width)};
}

/// Number of floats in a volume of this shape.
inline std::size_t device_volume_floats(int width, int planes, int height) {
  return element_count({padded_count<float>(width), planes, height});
}

/// A range of rows and planes of costs by (row, d, x), x rows `pitch` elements apart. Rows are padded to 64
/// bytes.
/// @tparam Cost  float, or the bits of a half
template <class Cost>
struct CostPiece {
  const Cost* data;
  std::ptrdiff_t pitch;
  int row, rows;      ///< the first one in the image, and their number
  int plane, planes;  ///< likewise
};

/// All costs of a volume.
inline CostPiece<float> whole_piece(const DeviceVolume& costs) {
  return {costs.data, costs.pitch, 0, costs.height, 0, costs.planes};
}

/// Max width of a volume: the sums of a row fit in the shared memory of a multiprocessor.
inline constexpr int kMaxAggregatedWidth = 16384;

}  // namespace recon::cuda
