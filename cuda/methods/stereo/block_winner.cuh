#pragma once

#include "cuda/methods/stereo/block_device.hpp"

namespace recon::cuda {

/// Stores the winner of a pixel, and assigns its position in the right image.
__device__ inline void store_winner(const DeviceBlock& b, int x, int y, const BlockWinner& winner) {
  const int steps = b.options.steps_per_pixel;
  const std::ptrdiff_t at = y * b.pitch + x;
  b.disparity[at] = is_trusted(winner, b.limits) ? block_disparity(winner, b.min, steps, b.options.subpixel)
                                                 : __int_as_float(0x7FC00000);
  if (b.options.left_right < 0) return;
  b.winners[at] = static_cast<std::uint16_t>(winner.k);
  const int position = steps * (x - b.min) - winner.k;
  if (position < 0 || position > steps * (b.width - 1)) return;
  atomicMin(reinterpret_cast<unsigned long long*>(b.claims + y * b.claims_pitch + position),
            static_cast<unsigned long long>(block_owner_key(winner.cost, winner.k)));
}

}  // namespace recon::cuda
