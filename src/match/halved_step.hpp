#pragma once

#include <cstdint>

#include "core/hd.hpp"

namespace recon {

/// A pixel of the halved image: the mean of 2 x 2 pixels, rounded half up.
RECON_HD std::uint8_t halved_pixel(int a, int b, int c, int d) {
  return static_cast<std::uint8_t>((a + b + c + d + 2) / 4);
}

}  // namespace recon
