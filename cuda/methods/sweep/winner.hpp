#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/optimize/winner/winner_range.hpp"
#include "match/warp_step.hpp"

namespace recon::cuda {

/// Winners of a piece of a view: half bits (the plane as an integer) by (field, row, x), rows `pitch`
/// elements apart; see WinnerField.
struct WinnerFields {
  std::uint16_t* data;
  std::ptrdiff_t pitch;
  int width, rows;
};

/// Winner-take-all over a volume (row, d, x) of half bits that holds the planes [plane_begin, plane_begin +
/// planes). The result is merged into `winners`; plane_begin = 0 overwrites them.
/// @throws DeviceError
void launch_winner_scan(const std::uint16_t* volume, std::ptrdiff_t volume_pitch, int plane_begin, int planes,
                        const WinnerFields& winners, cudaStream_t stream);

/// Computes depth, cost and confidence of each winner: three consecutive images of
/// `rows` rows, rows `pitch` floats apart.
/// @throws DeviceError
void launch_winner_depth(const WinnerFields& winners, const PlaneSet& planes, float* results,
                         std::ptrdiff_t pitch, cudaStream_t stream);

}  // namespace recon::cuda
